/** Manages software RAID with mdadm. Also available as `raid`. */

import { existsSync } from '../../_shared/safe-fs/fs.ts';
import { hasFunction, salt } from '../../_shared/states/call.ts';
import { failOnError } from '../../_shared/states/fail-on-error.ts';
import { changed, failed, inPlan, unchanged, would } from '../../_shared/states/returns.ts';
import { toList } from '../../_shared/states/values.ts';
import { plainRepr } from '../../_shared/text/python-text.ts';
import { __opts__, type Plain, type PlainDict, type StateReturn } from '../../api.ts';

export const __virtualname__ = 'raid';

export const __virtual__ = (): string | [false, string] =>
  hasFunction('raid.list') ? __virtualname__ : [false, 'mdadm is not installed.'];

/**
 * Makes sure that an array runs. It is assembled if its members belong to it, and created if they
 * are new. New devices are added to a running array. Further arguments are options of mdadm.
 *
 * @param name its device
 * @param level its level: 0, 1, 5, 6, 10 …
 * @param devices its members; `missing` for one that is added later
 * @example
 * /dev/md0:
 *   raid.present:
 *     - level: 5
 *     - devices: [/dev/sdb, /dev/sdc, /dev/sdd]
 *     - chunk: 256
 */
export const present = async (
  name: string,
  {
    level,
    devices,
    ...options
  }: { level: number | string; devices: Plain; [option: string]: unknown },
): Promise<StateReturn> =>
  failOnError(name, async () => {
    const running: { [field: string]: string } | undefined = (await salt('raid.list')())[name];
    const { fresh, missing, members } = await sorted(toList(devices));
    const uuids = [...members.keys()].sort();
    if (uuids.length > 1)
      return failed(
        name,
        `Devices are a mix of RAID constituents with multiple MD_UUIDs: ${plainRepr(uuids)}.`,
      );
    const [uuid] = uuids;
    if (running && uuid !== undefined && running.uuid !== uuid)
      return failed(
        name,
        `Devices MD_UUIDs: ${uuid} differs from present RAID uuid ${running.uuid}.`,
      );
    const old = uuid === undefined ? [] : (members.get(uuid) ?? []);
    if (!running && old.length + fresh.length === 0)
      return failed(name, `All devices are missing: ${plainRepr(missing)}.`);
    const start = (test_mode: boolean): Promise<string> =>
      old.length > 0
        ? salt('raid.assemble')(name, old, { ...options, test_mode })
        : salt('raid.create')(name, level, [...fresh, ...missing.map(() => 'missing')], {
            ...options,
            test_mode,
          });
    const verb = old.length > 0 ? 'assembled' : 'created';
    const additions = running || old.length > 0 ? fresh : [];
    const tail = missing.length > 0 ? ` Missing devices: ${plainRepr(missing)}` : '';
    if (__opts__.test) {
      const comment = [
        running
          ? `Raid ${name} already present.`
          : `Raid will be ${verb} with: ${await start(true)}`,
        additions.length > 0 ? ` New devices will be added: ${plainRepr(additions)}` : '',
        tail,
      ].join('');
      return running && additions.length === 0
        ? unchanged(name, comment)
        : would(name, comment, predicted(name, running !== undefined, additions));
    }
    let state = unchanged(name, `Raid ${name} already present.`);
    if (!running) {
      await start(false);
      const made: PlainDict | undefined = (await salt('raid.list')())[name];
      if (!made) return failed(name, `Raid ${name} failed to be ${verb}.`);
      state = changed(name, `Raid ${name} ${verb}.`, { ...made });
      await salt('raid.save_config')();
    }
    const grown = await added(state, additions);
    return { ...grown, comment: `${grown.comment}${tail}` };
  });

const predicted = (name: string, isRunning: boolean, additions: string[]): PlainDict =>
  inPlan({
    ...(isRunning ? {} : { device: name }),
    ...(additions.length > 0 ? { added: additions } : {}),
  });

/** Sorts devices into missing ones, those without a superblock, and the others by their array. */
const sorted = async (
  devices: readonly string[],
): Promise<{ missing: string[]; fresh: string[]; members: Map<string, string[]> }> => {
  const found = {
    missing: [] as string[],
    fresh: [] as string[],
    members: new Map<string, string[]>(),
  };
  for (const device of devices) {
    if (device === 'missing' || !existsSync(device)) {
      found.missing.push(device);
      continue;
    }
    const { MD_UUID: uuid } = await salt('raid.examine')(device, { quiet: true });
    if (uuid) found.members.set(uuid, [...(found.members.get(uuid) ?? []), device]);
    else found.fresh.push(device);
  }
  return found;
};

const added = async (state: StateReturn, devices: readonly string[]): Promise<StateReturn> => {
  const { name } = state;
  const done: string[] = [];
  const comments = [state.comment];
  for (const device of devices)
    if (await salt('raid.add')(name, device)) {
      done.push(device);
      comments.push(` Added new device ${device} to ${name}.\n`);
    } else comments.push(` Unable to add ${device} to ${name}.\n`);
  return {
    name,
    changes: done.length > 0 ? { ...state.changes, added: done } : state.changes,
    result: done.length === devices.length,
    comment: comments.join(''),
  };
};

/**
 * Makes sure that an array does not exist. Its members become plain devices again.
 *
 * @param name its device
 * @example
 * /dev/md0:
 *   raid.absent
 */
export const absent = async (name: string): Promise<StateReturn> =>
  failOnError(name, async () => {
    const running: PlainDict | undefined = (await salt('raid.list')())[name];
    if (!running) return unchanged(name, `Raid ${name} already absent`);
    if (__opts__.test)
      return would(
        name,
        `Raid ${name} is set to be destroyed`,
        inPlan({ [name]: { old: running, new: null } }),
      );
    return (await salt('raid.destroy')(name))
      ? changed(name, `Raid ${name} has been destroyed`, { [name]: { old: running, new: null } })
      : failed(name, `Raid ${name} failed to be destroyed`);
  });
