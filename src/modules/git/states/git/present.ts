import { join } from 'node:path';
import { messageOf } from '../../../../protocol/error.ts';
import { isAbs, isDir, isFile } from '../../../_shared/files/file-paths.ts';
import { readdirSync } from '../../../_shared/safe-fs/fs.ts';
import { failed, newReturn } from '../../../_shared/states/returns.ts';
import { __opts__, __salt__, type StateReturn } from '../../../api.ts';
import { isClone } from '../../git-local.ts';
import { refuseEncoding } from '../../git-options.ts';

type PresentOptions = {
  force?: boolean;
  bare?: boolean;
  template?: string | null;
  separate_git_dir?: string | null;
  shared?: string | number | boolean | null;
  user?: string | null;
  password?: string | null;
  output_encoding?: string | null;
};

/**
 * Makes sure that a repository exists. A missing one is created empty.
 *
 * @param name its directory
 * @param force empty the directory if it is not a repository
 * @param bare false: with a working tree
 * @param template folder whose files are copied into a new repository
 * @param separate_git_dir where a new repository itself is to be
 * @param shared users that may write to it: `group`, `all`, `umask`, or a mode in octal digits
 * @param user run git as this user
 * @param password has no effect: only needed on Windows
 * @param output_encoding only UTF-8 output is supported; other encodings are refused
 *
 * @example
 * /srv/git/app.git:
 *   git.present:
 *     - shared: group
 */
export const present = async (
  name: string,
  {
    force = false,
    bare = true,
    template = null,
    separate_git_dir = null,
    shared = null,
    user = null,
    password: _password = null,
    output_encoding = null,
  }: PresentOptions = {},
): Promise<StateReturn> => {
  const ret = newReturn(name);
  if (!isAbs(name)) return failed(ret, `Path '${name}' is not absolute`);
  if (await isRepository(name, bare, user)) return ret;
  const kind = bare ? 'bare repository' : 'repository';
  const clears = isDir(name) && force;
  if (isDir(name) && !force && readdirSync(name).length > 0)
    return failed(
      ret,
      `Target '${name}' exists, is non-empty, and is not a git repository. Set the 'force' option to True to remove this directory's contents and proceed with initializing a repository`,
    );
  const changes = { new: name, ...(clears ? { 'forced init': true } : {}) };
  try {
    refuseEncoding(output_encoding);
    if (__opts__.test)
      return {
        ...ret,
        changes,
        result: null,
        comment: clears
          ? `Target directory ${name} exists. Since force=True, the contents of ${name} would be deleted, and a ${kind} would be initialized in its place.`
          : `New ${kind} would be created`,
      };
    if (clears) await __salt__['file.remove'](name);
    await __salt__['git.init'](name, { bare, template, separate_git_dir, shared, user });
  } catch (error) {
    return failed(ret, messageOf(error));
  }
  const done = [
    `Initialized ${kind} in ${name}`,
    ...(template === null ? [] : [`Template directory set to ${template}`]),
    ...(separate_git_dir === null ? [] : [`Gitdir set to ${separate_git_dir}`]),
  ];
  return { ...ret, changes, comment: `${done.join('. ')}${done.length > 1 ? '.' : ''}` };
};

const isRepository = async (name: string, bare: boolean, user: string | null): Promise<boolean> =>
  isDir(name) && (bare ? isFile(join(name, 'HEAD')) : await isClone(name, user));
