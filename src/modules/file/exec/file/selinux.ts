import { selinuxContextOf } from '../../../_shared/files/selinux.ts';
import { runPlain } from '../../../_shared/files/selinux-run.ts';
import { salt } from '../../../_shared/states/call.ts';
import { CommandExecutionError } from '../../../api.ts';

/**
 * Returns the SELinux context of a file, or an error message if it has none.
 *
 * @param path the file
 *
 * @example tsalt-ssh '*' file.get_selinux_context /etc/hosts
 */
export const get_selinux_context = async (path: string): Promise<string> =>
  selinuxContextOf(path) ?? `No selinux context information is available for ${path}`;

/**
 * Sets parts of a file's SELinux context. Returns the resulting context, or false on failure.
 *
 * @param path the file
 * @param user the user
 * @param role the role
 * @param type the type
 * @param range the range of levels
 * @param persist also change the policy, so that relabelling keeps the context
 *
 * @example tsalt-ssh '*' file.set_selinux_context /var/www type=httpd_sys_content_t
 */
export const set_selinux_context = async (
  path: string,
  {
    user = null,
    role = null,
    type = null,
    range = null,
    persist = false,
  }: {
    user?: string | null;
    role?: string | null;
    type?: string | null;
    range?: string | null;
    persist?: boolean;
  } = {},
): Promise<string | false> => {
  const parts = [
    ['--user', user],
    ['--role', role],
    ['--type', type],
    ['--range', range],
  ].flatMap(([flag, value]) => (value ? [`${flag}=${value}`] : []));
  if (parts.length === 0) return false;
  if (persist) {
    const wish = { sel_type: type, sel_user: user, sel_level: range };
    const { retcode, stderr } = await salt('selinux.fcontext_add_policy')(path, wish);
    if (retcode !== 0) throw new CommandExecutionError(`Problem setting fcontext: ${stderr}`);
  }
  const { code } = await runPlain(['chcon', ...parts, '--', path]);
  return code === 0 ? get_selinux_context(path) : false;
};

/**
 * Restores a file's SELinux context to the policy's default. Returns true on success.
 *
 * @param path the file
 * @param recursive also everything below
 *
 * @example tsalt-ssh '*' file.restorecon /home/user/.ssh/authorized_keys
 */
export const restorecon = async (path: string, recursive = false): Promise<boolean> =>
  (await runPlain(['restorecon', recursive ? '-FR' : '-F', '--', path])).code === 0;
