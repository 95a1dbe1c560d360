/**
 * Manages PHP packages that a project's `composer.json` lists.
 *
 * @platform all
 * @depends composer
 */
import { join } from 'node:path';
import { runCommand } from '../../_shared/commands/run-command.ts';
import { which } from '../../_shared/commands/which.ts';
import { exists } from '../../_shared/files/file-paths.ts';
import { environmentOf } from '../../_shared/states/values.ts';
import { CommandExecutionError } from '../../api.ts';
import type { ComposerProgram, ComposerQuiet, ComposerSettings } from '../composer-options.ts';

type Program = ComposerProgram & {
  /** the account to run as */
  runas?: string | null;
};
type Options = Program & ComposerSettings;

type Said = { pid: number; retcode: number; stdout: string; stderr: string };

const run = async (
  action: string,
  words: readonly string[],
  { composer, php, runas, quiet = false, composer_home = '/root', env }: Options,
): Promise<Said | true> => {
  const program = composer ?? 'composer';
  if (!which(program))
    throw new CommandExecutionError(
      `'composer.${action}' is not available. Couldn't find '${program}'.`,
    );
  const interpreter = php ?? (composer ? 'php' : null);
  const argv = [
    ...(interpreter === null ? [] : [interpreter]),
    ...[program, action, '--no-interaction', '--no-ansi', ...words],
    ...(quiet ? ['--quiet'] : []),
  ];
  const { code, stdout, stderr, pid } = await runCommand(argv as [string, ...string[]], {
    ...(runas ? { runas } : {}),
    env: {
      ...environmentOf(env),
      COMPOSER_HOME: composer_home,
    },
  });
  if (code !== 0) throw new CommandExecutionError(stderr.trim() || stdout.trim());
  return quiet || { pid, retcode: code, stdout: stdout.trimEnd(), stderr: stderr.trimEnd() };
};

const wordsOf = (directory: string, options: Options): string[] => [
  ...['--working-dir', directory],
  ...(options.no_dev ? ['--no-dev'] : []),
  ...(options.prefer_source ? ['--prefer-source'] : []),
  ...(options.prefer_dist ? ['--prefer-dist'] : []),
  ...(options.no_scripts ? ['--no-scripts'] : []),
  ...(options.no_plugins ? ['--no-plugins'] : []),
  ...(options.optimize ? ['--optimize-autoloader'] : []),
];

/**
 * Whether a project has a folder `vendor`.
 *
 * @param dir the project's folder
 * @example tsalt-ssh web1 composer.did_composer_install /srv/app
 */
export const did_composer_install = async (dir: string): Promise<boolean> =>
  exists(join(dir, 'vendor'));

/**
 * Installs a project's dependencies, in the versions of its `composer.lock` if it has one. Returns
 * the `pid`, `retcode`, `stdout` and `stderr` of composer, or true with `quiet`.
 *
 * @param directory the project's folder
 * @example tsalt-ssh web1 composer.install /srv/app no_dev=true optimize=true
 */
export const install = async (directory: string, options: Options = {}): Promise<Said | true> =>
  run('install', wordsOf(directory, options), options);

/**
 * Updates a project's packages to the newest versions that its `composer.json` allows. Returns the
 * `pid`, `retcode`, `stdout` and `stderr` of composer, or true with `quiet`.
 *
 * @param directory the project's folder
 * @example tsalt-ssh web1 composer.update /srv/app no_dev=true
 */
export const update = async (directory: string, options: Options = {}): Promise<Said | true> =>
  run('update', ['--no-progress', ...wordsOf(directory, options)], options);

/**
 * Updates composer itself to its newest version. Returns `pid`, `retcode`, `stdout` and `stderr`, or
 * true with `quiet`.
 *
 * @example tsalt-ssh web1 composer.selfupdate
 */
export const selfupdate = async (options: Program & ComposerQuiet = {}): Promise<Said | true> =>
  run('selfupdate', ['--no-progress'], options);
