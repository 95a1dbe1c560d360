/** Manages the configuration of logrotate, line by line. */
import { messageOf } from '../../../protocol/error.ts';
import { isFile } from '../../_shared/files/file-paths.ts';
import { salt } from '../../_shared/states/call.ts';
import { changed, failed, unchanged, would } from '../../_shared/states/returns.ts';
import { plainStr } from '../../_shared/text/python-text.ts';
import { __opts__, type StateReturn } from '../../api.ts';
import type { Setting } from '../logrotate-file.ts';

export const __func_alias__ = { set_: 'set' };

const number = (value: Setting): Setting =>
  typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value;

/**
 * Makes sure that a setting of logrotate, or of one of its blocks, has this value. Other lines are
 * not changed.
 *
 * @param name any name
 * @param key a setting such as `rotate`, or the file of a block
 * @param value its value, or a setting of that block
 * @param setting the value of that block's setting
 * @param conf_file the main file
 * @example
 * keep two of wtmp:
 *   logrotate.set:
 *     - key: /var/log/wtmp
 *     - value: rotate
 *     - setting: 2
 */
export const set_ = async (
  name: string,
  {
    key,
    value,
    setting = null,
    conf_file = '/etc/logrotate.conf',
  }: { key: string; value: Setting; setting?: Setting | null; conf_file?: string },
): Promise<StateReturn> => {
  const inBlock = setting !== null;
  const wanted = number(inBlock ? setting : value);
  const shown = plainStr(wanted);
  const what = inBlock ? `Block '${key}' command '${value}'` : `Command '${key}'`;
  const set = inBlock ? `block '${key}' command '${value}'` : `command '${key}'`;
  try {
    // In test mode, an earlier state may be about to install the package.
    if (__opts__.test && !isFile(conf_file))
      return would(name, `${what} will be set to value: ${shown}`, { old: null, new: wanted });
    const current: Setting = await salt('logrotate.get')(key, inBlock ? String(value) : null, {
      conf_file,
    });
    if (current === wanted) return unchanged(name, `${what} already has value: ${shown}`);
    const changes = { old: current, new: wanted };
    if (__opts__.test) return would(name, `${what} will be set to value: ${shown}`, changes);
    await salt('logrotate.set')(key, inBlock ? value : wanted, inBlock ? wanted : null, {
      conf_file,
    });
    return changed(name, `Set ${set} value: ${shown}`, changes);
  } catch (error) {
    return failed(name, `Unable to set ${set} value: ${shown} (${messageOf(error)})`);
  }
};
