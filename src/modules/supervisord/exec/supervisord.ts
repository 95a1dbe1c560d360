/**
 * Programs that run under supervisor, by supervisorctl.
 *
 * @depends supervisorctl
 */
import { join } from 'node:path';
import { type CommandResult, runCommand } from '../../_shared/commands/run-command.ts';
import { which } from '../../_shared/commands/which.ts';
import { isDir, isFile } from '../../_shared/files/file-paths.ts';
import { readOr } from '../../_shared/files/read-file.ts';
import { splitCommandArgs } from '../../_shared/text/command-args.ts';
import { parseIniFile } from '../../_shared/text/ini-file.ts';
import { CommandExecutionError, type Plain, type PlainDict } from '../../api.ts';

type Where = {
  /** the account to run supervisorctl as */
  user?: string | null;
  /** supervisor's configuration */
  conf_file?: string | null;
  /** the path of supervisorctl, or of the virtual environment that holds it */
  bin_env?: string | null;
};

const programOf = (bin_env: string | null | undefined): string => {
  const program = !bin_env
    ? which('supervisorctl')
    : isDir(bin_env)
      ? join(bin_env, 'bin', 'supervisorctl')
      : bin_env;
  if (program === undefined || !isFile(program))
    throw new CommandExecutionError(
      'supervisorctl is not installed: install the package supervisor, or name its program or virtual environment in bin_env.',
    );
  return program;
};

const run = async (words: readonly string[], where: Where): Promise<CommandResult> =>
  runCommand(
    [programOf(where.bin_env), ...(where.conf_file ? ['-c', where.conf_file] : []), ...words],
    { plainLocale: true, cwd: '/', ...(where.user ? { runas: where.user } : {}) },
  );

/** The output of supervisorctl, which contains `ERROR` when it failed. */
const told = async (words: readonly string[], where: Where): Promise<string> => {
  const { code, stdout, stderr } = await run(words, where);
  const text = stdout.trim() || stderr.trim();
  return code === 0 || text.includes('ERROR') ? text : `ERROR: ${text}`;
};

const everyOne = (name: string): string => name.replace(/:\*$/, ':');
const groupOnly = (name: string): string => name.replace(/:\*?$/, '');

/**
 * Starts a program, or a group (`GROUP:`), and returns supervisor's output.
 *
 * @param name the program
 * @example tsalt-ssh '*' supervisord.start web
 */
export const start = async (name = 'all', where: Where = {}): Promise<string> =>
  told(['start', everyOne(name)], where);

/**
 * Restarts a program, or a group (`GROUP:`), and returns supervisor's output.
 *
 * @param name the program
 * @example tsalt-ssh '*' supervisord.restart web
 */
export const restart = async (name = 'all', where: Where = {}): Promise<string> =>
  told(['restart', everyOne(name)], where);

/**
 * Stops a program, or a group (`GROUP:`), and returns supervisor's output.
 *
 * @param name the program
 * @example tsalt-ssh '*' supervisord.stop web
 */
export const stop = async (name = 'all', where: Where = {}): Promise<string> =>
  told(['stop', everyOne(name)], where);

/**
 * Takes a program or group of the configuration on.
 *
 * @param name the program
 * @example tsalt-ssh '*' supervisord.add web
 */
export const add = async (name: string, where: Where = {}): Promise<string> =>
  told(['add', groupOnly(name)], where);

/**
 * Lets a program or group go that is stopped.
 *
 * @param name the program
 * @example tsalt-ssh '*' supervisord.remove web
 */
export const remove = async (name: string, where: Where = {}): Promise<string> =>
  told(['remove', groupOnly(name)], where);

/**
 * Has supervisor read its configuration, without acting on it.
 *
 * @example tsalt-ssh '*' supervisord.reread
 */
export const reread = async (where: Where = {}): Promise<string> => told(['reread'], where);

/**
 * Has supervisor read its configuration and start, restart and stop what that changes.
 *
 * @param name this group only
 * @example tsalt-ssh '*' supervisord.update
 */
export const update = async ({
  user = null,
  conf_file = null,
  bin_env = null,
  name = null,
}: Where & { name?: string | null } = {}): Promise<string> =>
  told(['update', ...(name ? [groupOnly(name)] : [])], { user, conf_file, bin_env });

const states = 'STOPPED|STARTING|RUNNING|BACKOFF|STOPPING|EXITED|FATAL|UNKNOWN';

/**
 * Returns the status of supervisor's programs: `{NAME: {state, reason}}`.
 *
 * @param name this program only, or this group (`GROUP:`)
 * @example tsalt-ssh '*' supervisord.status
 */
export const status = async (
  name: string | null = null,
  where: Where = {},
): Promise<{ [program: string]: { state: string; reason: string } }> => {
  const { code, stdout, stderr } = await run(['status', ...(name ? [everyOne(name)] : [])], where);
  const lines = [...stdout.matchAll(new RegExp(`^(\\S+)\\s+(${states})\\s*(.*)$`, 'gm'))];
  // 3 says that some of them do not run.
  if (code !== 0 && code !== 3 && lines.length === 0 && !/ERROR \(no such /.test(stdout))
    throw new CommandExecutionError(
      `supervisorctl status failed: ${stderr.trim() || stdout.trim()}`,
    );
  return Object.fromEntries(
    lines.map(([, program = '', state = '', reason = '']) => [
      program,
      { state, reason: reason.trim() },
    ]),
  );
};

/**
 * Returns the output of `supervisorctl status`.
 *
 * @param name this program only
 * @example tsalt-ssh '*' supervisord.status_raw
 */
export const status_raw = async (name: string | null = null, where: Where = {}): Promise<string> =>
  (await run(['status', ...(name ? [name] : [])], where)).stdout.trim();

/**
 * Whether a program is there, in this state when one is named.
 *
 * @param name the program
 * @param expected_state `RUNNING`, `STOPPED` …
 * @example tsalt-ssh '*' supervisord.status_bool web expected_state=RUNNING
 */
export const status_bool = async (
  name: string,
  { expected_state = null, ...where }: Where & { expected_state?: string | null } = {},
): Promise<boolean> => {
  const found = (await status(name, where))[name];
  return found !== undefined && (expected_state === null || found.state === expected_state);
};

/**
 * Runs a command of supervisorctl.
 *
 * @param command its words
 * @example tsalt-ssh '*' supervisord.custom 'tail web'
 */
export const custom = async (command: string, where: Where = {}): Promise<string> =>
  told(splitCommandArgs(command), where);

/**
 * The settings of a program in supervisor's configuration.
 *
 * @param name the program
 * @param conf_file supervisor's configuration
 * @example tsalt-ssh '*' supervisord.options web
 */
export const options = async (
  name: string,
  { conf_file = null }: { conf_file?: string | null } = {},
): Promise<PlainDict> => {
  const path =
    conf_file ??
    ['/etc/supervisor/supervisord.conf', '/etc/supervisord.conf'].find(one => isFile(one));
  if (path === undefined) throw new CommandExecutionError('No suitable config file found');
  const text = readOr(path);
  if (text === undefined) throw new CommandExecutionError(`Unable to read from ${path}`);
  const section = parseIniFile(text, '=').sections.find(one => one.name === `program:${name}`);
  if (section === undefined) throw new CommandExecutionError(`Process '${name}' not found`);
  return Object.fromEntries(
    section.lines.flatMap(({ option, value = '' }) =>
      option === undefined ? [] : [[option.toLowerCase(), settingOf(value)]],
    ),
  );
};

const settingOf = (text: string): Plain => {
  const [value = ''] = text.split(';').map(part => part.trim());
  if (/^(?:true|false)$/i.test(value)) return value.toLowerCase() === 'true';
  return /^-?\d+(?:\.\d+)?$/.test(value) ? Number(value) : value;
};
