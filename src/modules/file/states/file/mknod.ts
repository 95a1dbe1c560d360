import { messageOf } from '../../../../protocol/error.ts';
import { expandUser, lstatOf } from '../../../_shared/files/file-paths.ts';
import { salt } from '../../../_shared/states/call.ts';
import { failed, inPlan, newReturn, unchanged, would } from '../../../_shared/states/returns.ts';
import { __opts__, type StateReturn } from '../../../api.ts';

const kinds = {
  c: { what: 'Character device', is: 'file.is_chrdev' },
  b: { what: 'Block device', is: 'file.is_blkdev' },
  p: { what: 'Fifo pipe', is: 'file.is_fifo' },
} as const;

/**
 * Makes sure that a device or a named pipe exists. Anything else at its path is left alone.
 *
 * @param name the path
 * @param ntype `c` (character device), `b` (block device) or `p` (named pipe)
 * @param major the major number of a device
 * @param minor the minor number of a device
 * @param user its owner
 * @param group its group
 * @param mode its mode
 * @example
 * /run/app.fifo:
 *   file.mknod:
 *     - ntype: p
 *     - user: app
 *     - mode: '0660'
 */
export const mknod = async (
  name: string,
  {
    ntype,
    major = 0,
    minor = 0,
    user = null,
    group = null,
    mode = '0600',
  }: {
    ntype: string;
    major?: number;
    minor?: number;
    user?: string | number | null;
    group?: string | number | null;
    mode?: string | number;
  },
): Promise<StateReturn> => {
  const path = expandUser(name);
  if (!Object.hasOwn(kinds, ntype))
    return failed(
      name,
      `Node type unavailable: '${ntype}'. Available node types are character ('c'), block ('b'), and pipe ('p')`,
    );
  const { what, is } = kinds[ntype as keyof typeof kinds];
  try {
    if (!lstatOf(path)) {
      if (__opts__.test)
        return would(
          name,
          `${what} ${path} is set to be created`,
          inPlan({ new: `${what} ${path} created.` }),
        );
      return await salt('file.mknod')(path, ntype, major, minor, user, group, mode);
    }
    if (!(await salt(is)(path)))
      return failed(
        name,
        `File ${path} exists and is not a ${what.toLowerCase()}. Refusing to continue`,
      );
    const [hasMajor, hasMinor]: [number, number] = await salt('file.get_devmm')(path);
    if (ntype !== 'p' && (hasMajor !== major || hasMinor !== minor))
      return failed(
        name,
        `${what} ${path} exists and has a different major/minor ${hasMajor}/${hasMinor}. Refusing to continue`,
      );
    const [checked]: [StateReturn] = await salt('file.check_perms')(
      path,
      newReturn(name),
      user,
      group,
      mode,
    );
    return Object.keys(checked.changes).length > 0
      ? checked
      : unchanged(name, `${what} ${path} is in the correct state`);
  } catch (error) {
    return failed(name, messageOf(error));
  }
};
