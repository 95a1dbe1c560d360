import { messageOf } from '../../protocol/error.ts';
import { hasFunction, salt } from '../_shared/states/call.ts';
import { inPlan } from '../_shared/states/returns.ts';
import { __opts__, type StateReturn } from '../api.ts';
import { actionOptions, levelOption, type ServiceOptions, startsAtBoot } from './service-checks.ts';

/** Brings `enable` about after the rest of the state is done; `started` is null when nothing was. */
export const withBoot = async (
  state: StateReturn,
  enable: boolean | null,
  atBoot: boolean,
  started: boolean | null,
  options: ServiceOptions,
  always = false,
): Promise<StateReturn> => {
  const { name } = state;
  if (enable === null) return state;
  if (enable === atBoot && started === null && !always) return state;
  const verb = enable ? 'enable' : 'disable';
  const Verb = enable ? 'Enable' : 'Disable';
  const tail = started === null ? 'is in the desired state' : started ? 'is running' : 'is dead';
  if (!hasFunction(`service.${verb}`) || !hasFunction('service.enabled'))
    return {
      ...state,
      comment: `${Verb} is not available on this minion, service ${name} ${started ? 'started' : tail}`,
    };
  if (enable === atBoot)
    return { ...state, comment: `Service ${name} is already ${verb}d, and ${tail}` };
  if (__opts__.test)
    return {
      ...state,
      changes: { ...state.changes, ...inPlan({ [name]: true }) },
      result: null,
      comment: `Service ${name} set to be ${verb}d`,
    };
  let reason = '';
  try {
    const boot = { ...(enable ? actionOptions(options) : {}), ...levelOption(options) };
    if (await salt(`service.${verb}`)(name, boot)) {
      const now = await startsAtBoot(name, options);
      return {
        ...state,
        changes: now === atBoot ? state.changes : { ...state.changes, [name]: true },
        comment: `Service ${name} has been ${verb}d, and ${tail}`,
      };
    }
  } catch (error) {
    reason = `. Additional information follows:\n\n${messageOf(error)}`;
  }
  const what = enable ? 'start at boot' : 'not start at boot';
  const how =
    started === null
      ? ', but the service was already running'
      : started
        ? ', but the service is running'
        : ', and the service is dead';
  return {
    ...state,
    result: false,
    comment: `Failed when setting service ${name} to ${what}${how}${reason}`,
  };
};
