import { redactPasswords } from '../../../_shared/sources/url-login.ts';
import { CommandExecutionError, type PlainDict } from '../../../api.ts';
import { installArgs, type PipOptions, type PipWhere, runPip } from '../../pip-run.ts';
import { comparePython, sameName } from '../../python-version.ts';
import { list } from './list.ts';

type Outdated = { name: string; latest_version: string; latest_filetype: string };

/**
 * The packages that have a newer version, with it and its kind: `{flask: '3.0.3 [wheel]'}`.
 *
 * @example tsalt-ssh '*' pip.list_upgrades bin_env=/srv/app/venv
 */
export const list_upgrades = async (
  options: PipWhere = {},
): Promise<{ [name: string]: string }> => {
  const { code, stdout, stderr } = await runPip(['list', '--outdated', '--format=json'], options);
  if (code !== 0) throw new CommandExecutionError(stderr.trim());
  return Object.fromEntries(
    (JSON.parse(stdout) as Outdated[]).map(one => [
      one.name,
      `${one.latest_version} [${one.latest_filetype}]`,
    ]),
  );
};

/**
 * Whether a package has a newer version.
 *
 * @param pkg the package
 * @example tsalt-ssh '*' pip.upgrade_available flask
 */
export const upgrade_available = async (pkg: string, options: PipWhere = {}): Promise<boolean> =>
  Object.keys(await list_upgrades(options)).some(name => sameName(name, pkg));

/**
 * Upgrades all packages that have a newer version: `result`, `changes` and `comment`.
 *
 * @example tsalt-ssh '*' pip.upgrade bin_env=/srv/app/venv
 */
export const upgrade = async ({
  bin_env = null,
  user = null,
  cwd = null,
  use_vt: _ = false,
  env_vars = null,
}: PipWhere = {}): Promise<{ result: boolean; changes: PlainDict; comment: string }> => {
  const options = { bin_env, user, cwd, env_vars };
  const before = await list(null, options);
  const errors: string[] = [];
  for (const name of Object.keys(await list_upgrades(options))) {
    const { code, stderr } = await runPip(['install', '--upgrade', name], options);
    if (code !== 0) errors.push(stderr.trim());
  }
  const after = await list(null, options);
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  const changes = names
    .filter(name => before[name] !== after[name])
    .map(name => [name, { old: before[name] ?? '', new: after[name] ?? '' }] as const);
  return {
    result: errors.length === 0,
    changes: Object.fromEntries(changes),
    comment: errors.join('\n'),
  };
};

/**
 * All versions of a package that its index has, the oldest first; null when there is none.
 *
 * @param pkg the package
 * @param include_alpha true: with versions such as `2.0a1` and `2.0.dev1`
 * @param include_beta true: with versions such as `2.0b1`
 * @param include_rc true: with versions such as `2.0rc1`
 * @example tsalt-ssh '*' pip.list_all_versions flask
 */
export const list_all_versions = async (
  pkg: string,
  {
    bin_env = null,
    include_alpha = false,
    include_beta = false,
    include_rc = false,
    user = null,
    cwd = null,
    index_url = null,
    extra_index_url = null,
    find_links = null,
    no_index = false,
    env_vars = null,
  }: PipWhere &
    Pick<PipOptions, 'index_url' | 'extra_index_url' | 'find_links' | 'no_index'> & {
      include_alpha?: boolean;
      include_beta?: boolean;
      include_rc?: boolean;
    } = {},
): Promise<string[] | null> => {
  if (!/^[A-Za-z0-9][\w.-]*$/.test(pkg)) throw new CommandExecutionError(`Not a package: "${pkg}"`);
  const { words, secrets } = installArgs({ index_url, extra_index_url, find_links, no_index });
  // pip names all versions when it cannot find one.
  const { stderr } = await runPip(
    ['install', '--dry-run', '--pre', ...words, `${pkg}==9223372036854775807`],
    { bin_env, user, cwd, env_vars },
    secrets,
  );
  const [, found] = /\(from versions: ([^)]*)\)/.exec(stderr) ?? [];
  if (found === undefined)
    throw new CommandExecutionError(
      redactPasswords(`pip could not be asked for ${pkg}: ${stderr.trim()}`),
    );
  const left = { a: include_alpha, b: include_beta, rc: include_rc, dev: include_alpha };
  const versions = found
    .split(', ')
    .filter(version => version !== '' && version !== 'none')
    .filter(version => {
      const [, kind] = /\d(?:(a|b|rc)|\.(dev))\d/.exec(version)?.filter(Boolean) ?? [];
      return kind === undefined || left[kind as keyof typeof left];
    })
    .sort(comparePython);
  return versions.length > 0 ? versions : null;
};
