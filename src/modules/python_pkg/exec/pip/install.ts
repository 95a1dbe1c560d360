import { withSecretFile } from '../../../_shared/files/secret-file.ts';
import { hasPassword, redactPasswords } from '../../../_shared/sources/url-login.ts';
import { toList } from '../../../_shared/states/values.ts';
import { SaltInvocationError } from '../../../api.ts';
import { refuseGone } from '../../pip-gone.ts';
import { withRequirements } from '../../pip-requirements.ts';
import {
  installWords,
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
 * @param editable a path or URL to install in place
 * @param bin_env a virtual environment, or the path of a pip
 * @param user the account to run as
 * @param cwd the folder to run in
 * @param upgrade true: newer versions where there are
 * @param force_reinstall true: install again what is there
 * @param ignore_installed true: do not look at what is there
 * @param no_deps true: without what it depends on
 * @param pre_releases true: pre-releases too
 * @param index_url the index
 * @param extra_index_url a further index
 * @param no_index true: no index, only `find_links`
 * @param find_links where else to look
 * @param no_binary packages to build from source, or `:all:`
 * @param only_binary packages to take as wheels only, or `:all:`
 * @param exists_action pip's answer when a path is there: s, i, w, b
 * @param trusted_host hosts that are trusted without a certificate
 * @param cache_dir where pip keeps what it has fetched
 * @param download_cache older name of `cache_dir`
 * @param no_cache_dir true: keep nothing
 * @param target a folder to install into; that of the variable `VENV_PIP_TARGET` when left out
 * @param timeout seconds to wait for a server
 * @param proxy a proxy; false: not the one of the configuration either
 * @param log a file that pip writes down what it does in
 * @param source the folder for `editable` from a repository
 * @param cert a file with the certificates to trust
 * @param global_options options for the packages' own setup
 * @param env_vars variables for pip
 * @param use_vt taken, and of no effect
 * @param extra_args further options for pip: texts, or `{--option: value}`; an address with a password reaches pip
 *   by a variable
 * @param use_wheel for pip before 10
 * @param no_use_wheel for pip before 10
 * @param mirrors for pip before 7
 * @param build for pip before 21: a folder to build in
 * @param download for pip before 10: a folder to download into instead
 * @param no_install for pip before 7
 * @param no_download for pip before 7
 * @param install_options for pip before 23.1: options for the packages' own setup
 * @param allow_all_external for pip before 10
 * @param allow_external for pip before 10
 * @param allow_unverified for pip before 10
 * @param process_dependency_links for pip before 19
 * @param saltenv the environment of `salt://` files
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
  const { words, secrets } = installWords(await withProxy(options));
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
 * @param bin_env a virtual environment, or the path of a pip
 * @param user the account to run as
 * @param cwd the folder to run in
 * @param log a file that pip writes down what it does in
 * @param proxy a proxy; false: not the one of the configuration either
 * @param timeout seconds to wait for a server
 * @param saltenv the environment of `salt://` files
 * @param use_vt taken, and of no effect
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
  const { words, secrets } = installWords(await withProxy({ log, proxy, timeout }));
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
