import { dirname } from 'node:path';
import { messageOf } from '../../../../protocol/error.ts';
import { expandUser, isAbs, isDir, linkExists } from '../../../_shared/files/file-paths.ts';
import { failed, inPlan, newReturn } from '../../../_shared/states/returns.ts';
import { __opts__, __salt__, type StateReturn } from '../../../api.ts';

/**
 * Moves a file or directory of this host, when it is still where it was.
 *
 * @param name the new path
 * @param source the old path
 * @param force overwrite an existing target
 * @param makedirs make missing directories above
 * @unknown ignored
 *
 * @example
 * /etc/app/app.conf:
 *   file.rename:
 *     - source: /etc/app.conf
 *     - makedirs: True
 */
export const rename = async (
  name: string,
  source: string,
  { force = false, makedirs = false }: { force?: boolean; makedirs?: boolean } = {},
): Promise<StateReturn> => {
  const path = expandUser(expandVariables(name));
  const from = expandUser(expandVariables(source));
  const ret = newReturn(path);
  if (!path) return failed(ret, 'Must provide name to file.rename');
  if (!isAbs(path)) return failed(ret, `Specified file ${path} is not an absolute path`);
  if (!linkExists(from))
    return { ...ret, comment: `Source file "${from}" has already been moved out of place` };
  const taken = linkExists(path);
  if (taken && !force)
    return { ...ret, comment: `The target file "${path}" exists and will not be overwritten` };
  if (__opts__.test)
    return {
      ...ret,
      result: null,
      changes: inPlan({ [path]: from }),
      comment: `File "${from}" is set to be moved to "${path}"`,
    };
  try {
    if (!isDir(dirname(path))) {
      if (!makedirs) return failed(ret, `The target directory ${dirname(path)} is not present`);
      await __salt__['file.makedirs']?.(path);
    }
    if (taken) await __salt__['file.remove']?.(path);
    await __salt__['file.move']?.(from, path);
  } catch (error) {
    return failed(ret, `Failed to move "${from}" to "${path}": ${messageOf(error)}`);
  }
  return { ...ret, changes: { [path]: from }, comment: `Moved "${from}" to "${path}"` };
};

const expandVariables = (path: string): string =>
  path.replace(/\$(\w+)|\$\{(\w+)\}/g, (all, bare, braced) => process.env[bare ?? braced] ?? all);
