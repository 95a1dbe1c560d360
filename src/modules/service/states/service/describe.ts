import { hasFunction, salt } from '../../../_shared/states/call.ts';
import { type Description, describedState } from '../../../_shared/states/describe.ts';
import { isUp, startsAtBoot } from '../../service-checks.ts';

/**
 * All services that can be enabled, and those that run: whether they run, whether they start at
 * boot. Masked ones are described as masked.
 */
export const describe = async (): Promise<Description> => {
  const described: Description = {};
  const bootable = new Set(await bootableServices());
  const running: string[] = hasFunction('service.get_running')
    ? await salt('service.get_running')()
    : [];
  const isOurs = (name: string): boolean =>
    !/@$|@\.|\.(target|mount|slice|scope|device)$/.test(name);
  const all = namesOf(await salt('service.get_all')());
  // A script whose name no unit has (hwclock.sh) is listed, and yet there is nothing to start.
  const available = hasFunction('service.available') ? salt('service.available') : async () => true;
  const masked = hasFunction('service.masked') ? salt('service.masked') : async () => false;
  for (const name of all.filter(isOurs)) {
    if (await masked(name)) described[name] = describedState('service.masked', {});
    else if (running.includes(name) || (bootable.has(name) && (await available(name)))) {
      const state = (await isUp(name, {})) ? 'service.running' : 'service.dead';
      const enable = bootable.has(name) ? await startsAtBoot(name) : undefined;
      described[name] = describedState(state, { enable });
    }
  }
  return described;
};

const bootableServices = async (): Promise<string[]> =>
  hasFunction('service.get_enabled') && hasFunction('service.get_disabled')
    ? [
        ...namesOf(await salt('service.get_enabled')()),
        ...namesOf(await salt('service.get_disabled')()),
      ]
    : namesOf(await salt('service.get_all')());

/** With OpenRC lists of services have the runlevels of each beside it. */
const namesOf = (list: string[] | { [name: string]: unknown }): string[] =>
  Array.isArray(list) ? list : Object.keys(list);
