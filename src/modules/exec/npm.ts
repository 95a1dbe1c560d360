/**
 * Packages of Node.js.
 *
 * @platform all
 * @depends npm
 */
import { CommandExecutionError, type PlainDict, SaltInvocationError } from '../api.ts';
import { runCommand } from '../lib/run-command.ts';

type Where = { dir?: string | null; runas?: string | null };

/** npm works in `dir`, or on the packages of the whole system. */
const run = async (args: readonly string[], { dir, runas }: Where) =>
  runCommand(['npm', ...args, ...(dir ? [] : ['--global'])], {
    plainLocale: true,
    cwd: dir ?? '/',
    ...(runas ? { runas } : {}),
    env: { NO_UPDATE_NOTIFIER: '1' },
  });

/**
 * The installed packages: `{name: {version}}`.
 *
 * @param dir a project's folder; the whole system when not given
 * @param runas the account to run as
 * @example tsalt-ssh '*' npm.list
 */
export const list = async (options: Where = {}): Promise<PlainDict> => {
  const { stdout, stderr } = await run(['list', '--json', '--depth=0'], options);
  try {
    const { dependencies = {} } = JSON.parse(stdout) as { dependencies?: PlainDict };
    return dependencies;
  } catch {
    throw new CommandExecutionError(`npm list failed: ${stderr.trim()}`);
  }
};

/**
 * Installs packages and gives what npm said.
 *
 * @param pkg a package, `name@version` or a URL
 * @param pkgs several of them
 * @param dir a project's folder; the whole system when not given
 * @param runas the account to run as
 * @param registry the registry
 * @example tsalt-ssh '*' npm.install coffee-script@1.0.1
 */
export const install = async (
  pkg: string | null = null,
  {
    pkgs = null,
    dir = null,
    runas = null,
    registry = null,
  }: Where & { pkgs?: string[] | null; registry?: string | null } = {},
): Promise<string> => {
  const names = pkgs ?? (pkg === null ? [] : [pkg]);
  if (names.length === 0 && !dir)
    throw new SaltInvocationError('npm.install needs pkg, pkgs or dir.');
  return checked(
    await run(
      [
        'install',
        '--no-fund',
        '--no-audit',
        ...(registry ? [`--registry=${registry}`] : []),
        '--',
        ...names,
      ].filter(word => word !== '--' || names.length > 0),
      { dir, runas },
    ),
  );
};

/**
 * Removes a package.
 *
 * @param pkg the package
 * @param dir a project's folder; the whole system when not given
 * @param runas the account to run as
 * @example tsalt-ssh '*' npm.uninstall coffee-script
 */
export const uninstall = async (pkg: string, options: Where = {}): Promise<string> =>
  checked(await run(['uninstall', '--no-fund', '--no-audit', pkg], options));

const checked = ({
  code,
  stdout,
  stderr,
}: {
  code: number;
  stdout: string;
  stderr: string;
}): string => {
  if (code !== 0) throw new CommandExecutionError(stderr.trim() || stdout.trim());
  return stdout.trim();
};
