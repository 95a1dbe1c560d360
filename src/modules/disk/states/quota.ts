/** Enables and disables quotas of file systems. */
import { messageOf } from '../../../protocol/error.ts';
import { hasFunction, salt } from '../../_shared/states/call.ts';
import { changed, failed, unchanged, would } from '../../_shared/states/returns.ts';
import { __opts__, type StateReturn } from '../../api.ts';

export const __virtual__ = (): true | [false, string] =>
  hasFunction('quota.report') || [false, 'setquota is not installed.'];

/**
 * Makes sure that the quotas of a file system are on or off.
 *
 * @param name its mount point
 * @param mode true: on
 * @param quotatype `user` or `group`
 * @example
 * /media/data:
 *   quota.mode:
 *     - mode: on
 *     - quotatype: user
 */
export const mode = async (
  name: string,
  { mode: isWanted, quotatype }: { mode: boolean; quotatype: string },
): Promise<StateReturn> => {
  const wanted = isWanted ? 'on' : 'off';
  try {
    const have = await modeOf(name, quotatype);
    if (have === undefined)
      return failed(name, `There are no ${quotatype} quotas on ${name}: see its mount options`);
    if (have === wanted) return unchanged(name, `Quota for ${name} already set to ${wanted}`);
    const changes = { quota: name };
    if (__opts__.test)
      return would(name, `Quota for ${name} needs to be set to ${wanted}`, changes);
    const complaint = await setMode(name, wanted);
    return (await modeOf(name, quotatype)) === wanted
      ? changed(name, `Set quota for ${name} to ${wanted}`, changes)
      : failed(name, `Failed to set quota for ${name} to ${wanted} ${complaint}`.trim());
  } catch (error) {
    return failed(name, messageOf(error));
  }
};

/** Returns the error message: if one kind of quota cannot be switched, the other one still is. */
const setMode = async (name: string, wanted: string): Promise<string> => {
  try {
    await salt(`quota.${wanted}`)(name);
    return '';
  } catch (error) {
    return messageOf(error);
  }
};

const modeOf = async (name: string, quotatype: string): Promise<string | undefined> => {
  const all: { [mount: string]: { [kind: string]: string } | string } =
    await salt('quota.get_mode')(name);
  const found = all[name] ?? Object.values(all)[0];
  return typeof found === 'object' ? found[quotatype] : undefined;
};
