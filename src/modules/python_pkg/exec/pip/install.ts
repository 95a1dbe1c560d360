import { withSecretFile } from '../../../_shared/files/secret-file.ts';
import { hasPassword, redactPasswords } from '../../../_shared/sources/url-login.ts';
import { toList } from '../../../_shared/states/values.ts';
import { SaltInvocationError } from '../../../api.ts';
import { refuseGone } from '../../pip-gone.ts';
import { withRequirements } from '../../pip-requirements.ts';
import {
  installArgs,
  type PipOptions,
  type PipWhere,
  runPip,
  toRequirements,
  withProxy,
} from '../../pip-run.ts';

/** The output of pip, without passwords. */
const said = (text: string): string => redactPasswords(text.trimEnd());

/**
 * Installs packages: pid, retcode, stdout and stderr of pip.
 *
 * @param pkgs requirements, a list or a text with commas
 * @param requirements requirements files, on the host, `salt://` or of the web: a list or a text with commas
 * @param upgrade true: newer versions where there are
 * @param find_links where else to look
 * @param target a folder to install into; that of the variable `VENV_PIP_TARGET` when left out
 * @param disable_version_check taken: pip never looks for a newer pip
 * @example tsalt-ssh '*' pip.install 'flask>=2' bin_env=/srv/app/venv
 */
export const install = async (
  pkgs: string | string[] | null = null,
  options: PipOptions = {},
): Promise<{ pid: number; retcode: number; stdout: string; stderr: string }> => {
  const named = toRequirements(pkgs);
  const editable = toList(options.editable);
  if (named.length + editable.length + toList(options.requirements).length === 0)
    return { pid: 0, retcode: 0, stdout: 'No packages to install.', stderr: '' };
  const { words, secrets } = installArgs(await withProxy(options));
  const asked = [...editable.map(one => `-e ${one}`), ...named];
  const { code, stdout, stderr, pid } = await withRequirements(
    options.requirements,
    options,
    async paths => {
      const files = paths.filter(path => !hasPassword(path)).flatMap(path => ['-r', path]);
      const run = (...given: string[]) =>
        runPip(['install', ...words, ...files, ...given], options, secrets);
      // Everybody on the host sees arguments: addresses with a password are in a file.
      const lines = [...paths.filter(hasPassword).map(path => `-r ${path}`), ...asked];
      return lines.some(hasPassword)
        ? withSecretFile(`${lines.join('\n')}\n`, options.user ?? undefined, path =>
            run('-r', path),
          )
        : run(...editable.flatMap(one => ['-e', one]), ...named);
    },
  );
  refuseGone(options, stderr);
  return { pid, retcode: code, stdout: said(stdout), stderr: said(stderr) };
};

/**
 * Removes packages.
 *
 * @param pkgs names, a list or a text with commas
 * @param requirements requirements files, on the host or `salt://`, instead
 * @example tsalt-ssh '*' pip.uninstall flask bin_env=/srv/app/venv
 */
export const uninstall = async (
  pkgs: string | string[] | null = null,
  {
    requirements = null,
    bin_env = null,
    log = null,
    proxy = null,
    timeout = null,
    user = null,
    cwd = null,
    saltenv = null,
    use_vt: _ = false,
    env_vars = null,
  }: PipWhere & Pick<PipOptions, 'requirements' | 'log' | 'proxy' | 'timeout' | 'saltenv'> = {},
): Promise<{ pid: number; retcode: number; stdout: string; stderr: string }> => {
  const options = { bin_env, user, cwd, env_vars };
  const named = toRequirements(pkgs);
  if (named.length + toList(requirements).length === 0)
    throw new SaltInvocationError('pip.uninstall needs pkgs or requirements.');
  const { words, secrets } = installArgs(await withProxy({ log, proxy, timeout }));
  const { code, stdout, stderr, pid } = await withRequirements(
    requirements,
    { ...options, saltenv },
    paths =>
      runPip(
        ['uninstall', '-y', ...words, ...paths.flatMap(path => ['-r', path]), ...named],
        options,
        secrets,
      ),
  );
  return { pid, retcode: code, stdout: said(stdout), stderr: said(stderr) };
};
