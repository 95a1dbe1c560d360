/**
 * Runs commands and scripts.
 *
 * @platform all
 */
import { accessSync, constants } from 'node:fs';
import { chmod, chown, copyFile, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { extname, isAbsolute, join } from 'node:path';
import {
  __context__,
  __salt__,
  CommandExecutionError,
  getLogger,
  type Plain,
  type PlainDict,
  SaltInvocationError,
} from '../api.ts';
import { readAccounts } from '../lib/accounts.ts';
import { pyStr } from '../lib/python-text.ts';
import { readOr } from '../lib/read-file.ts';
import { runCommand } from '../lib/run-command.ts';
import { repackDictList, toList } from '../lib/values.ts';
import { which as findCommand } from '../lib/which.ts';
import { quoteWord, splitWords } from '../lib/words.ts';

const log = getLogger('cmd');

/** Keyword arguments of every function here that runs a command. */
type RunOptions = {
  cwd?: string | null;
  stdin?: string | null;
  runas?: string | null;
  group?: string | null;
  shell?: string | null;
  python_shell?: boolean | null;
  env?: PlainDict | PlainDict[] | null;
  clean_env?: boolean;
  prepend_path?: string | null;
  rstrip?: boolean;
  umask?: string | number | null;
  output_loglevel?: string;
  hide_output?: boolean;
  timeout?: number | null;
  reset_system_locale?: boolean;
  ignore_retcode?: boolean;
  use_vt?: boolean;
  bg?: boolean;
  success_retcodes?: Plain;
  success_stdout?: Plain;
  success_stderr?: Plain;
  raise_err?: boolean;
  stdin_raw_newlines?: boolean;
  root?: string | null;
  [other: string]: unknown;
};

/** What `run_all` gives. */
type RunResult = { pid: number; retcode: number; stdout: string; stderr: string };

/**
 * Runs a command and gives its output, stdout and stderr together.
 *
 * A text is run by the shell; a list of words is run as it is, without any shell
 * (`python_shell=False` splits a text into words instead).
 *
 * @param cmd the command line, or a list of words
 * @param cwd the folder to run in; the home of the account by default
 * @param stdin text for its standard input
 * @param runas the account to run as
 * @param group the group to run with
 * @param shell the shell, `/bin/sh` by default
 * @param python_shell false: split the text into words and use no shell
 * @param env variables to add, a dict or a list of dicts
 * @param clean_env true: no variables but those of `env`
 * @param prepend_path folders to put in front of PATH
 * @param rstrip false: keep blanks at the end of the output
 * @param umask octal mask for new files
 * @param output_loglevel level at which the output is logged, `quiet` for not at all
 * @param hide_output true: answer without the output
 * @param timeout seconds after which the command and its children are killed
 * @param ignore_retcode true: a failure is neither logged nor passed on as the exit status
 * @param bg true: start it and do not wait
 * @param success_retcodes exit statuses that count as 0
 * @param success_stdout texts in stdout that make it a success
 * @param success_stderr texts in stderr that make it a success
 * @param raise_err true: throw when the command fails
 * @example tsalt-ssh 'web*' cmd.run 'ls -l | head' runas=www-data
 */
export const run = async (cmd: string | string[], options: RunOptions = {}): Promise<string> => {
  const { merged, retcode } = await execute(cmd, options);
  if (options.raise_err && retcode !== 0)
    throw new CommandExecutionError(options.hide_output ? '' : merged);
  return options.hide_output ? '' : merged;
};

/**
 * Runs a command line by a shell whatever `python_shell` says; otherwise as `cmd.run`.
 *
 * @param cmd the command line
 * @example tsalt-ssh '*' cmd.shell 'ls /etc/*.conf'
 */
export const shell = async (cmd: string, options: RunOptions = {}): Promise<string> =>
  run(cmd, { ...options, python_shell: true });

/**
 * Runs a command and gives its stdout. Arguments as `cmd.run`.
 *
 * @param cmd the command line, or a list of words
 * @example tsalt-ssh '*' cmd.run_stdout 'ls -l'
 */
export const run_stdout = async (
  cmd: string | string[],
  options: RunOptions = {},
): Promise<string> => (await run_all(cmd, options)).stdout;

/**
 * Runs a command and gives its stderr. Arguments as `cmd.run`.
 *
 * @param cmd the command line, or a list of words
 * @example tsalt-ssh '*' cmd.run_stderr 'ls /no/such'
 */
export const run_stderr = async (
  cmd: string | string[],
  options: RunOptions = {},
): Promise<string> => (await run_all(cmd, options)).stderr;

/**
 * Runs a command and gives pid, retcode, stdout and stderr. Arguments as `cmd.run`;
 * `redirect_stderr` sends stderr into stdout.
 *
 * @param cmd the command line, or a list of words
 * @example tsalt-ssh '*' cmd.run_all 'ls -l' cwd=/tmp
 */
export const run_all = async (
  cmd: string | string[],
  options: RunOptions = {},
): Promise<RunResult> => {
  const { pid, retcode, stdout, stderr, merged } = await execute(cmd, options);
  if (options.hide_output) return { pid, retcode, stdout: '', stderr: '' };
  return options.redirect_stderr === true
    ? { pid, retcode, stdout: merged, stderr: '' }
    : { pid, retcode, stdout, stderr };
};

/**
 * Runs a command and gives its exit status. Arguments as `cmd.run`.
 *
 * @param cmd the command line, or a list of words
 * @example tsalt-ssh '*' cmd.retcode 'test -e /etc/motd'
 */
export const retcode = async (cmd: string | string[], options: RunOptions = {}): Promise<number> =>
  (await execute(cmd, options)).retcode;

/**
 * Starts a command in the background and gives its pid. Arguments as `cmd.run`.
 *
 * @param cmd the command line, or a list of words
 * @example tsalt-ssh '*' cmd.run_bg 'sleep 60'
 */
export const run_bg = async (
  cmd: string | string[],
  options: RunOptions = {},
): Promise<{ pid: number }> => ({ pid: (await execute(cmd, { ...options, bg: true })).pid });

/**
 * Runs a command inside another root folder. Arguments as `cmd.run_all`.
 *
 * @param root the folder that is / for the command
 * @param cmd the command line
 * @example tsalt-ssh '*' cmd.run_chroot /srv/jail 'id'
 */
export const run_chroot = async (
  root: string,
  cmd: string | string[],
  options: RunOptions = {},
): Promise<RunResult> => run_all(cmd, { ...options, root });

/**
 * Fetches a script from the file server and runs it. Arguments as `cmd.run_all`.
 *
 * @param source `salt://…`, a URL or a path on the host
 * @param args arguments for the script, one text
 * @param template render it on the control node first, with this renderer
 * @param saltenv the environment to fetch it from
 * @param context variables for the template
 * @example tsalt-ssh '*' cmd.script salt://scripts/setup.sh args='a b'
 */
export const script = async (
  source: string,
  {
    args = null,
    template = null,
    saltenv = 'base',
    context = {},
    ...options
  }: RunOptions & {
    args?: string | null;
    template?: string | null;
    saltenv?: string;
    context?: PlainDict;
  } = {},
): Promise<RunResult & { cache_error?: boolean }> => {
  const missing = { pid: 0, retcode: 1, stdout: '', stderr: '', cache_error: true };
  const folder = await mkdtemp(join(tmpdir(), 'tsalt-script-'));
  const path = join(folder, `script${extname(source.split('?')[0] ?? '')}`);
  try {
    if (template) {
      const done = await call('cp.get_template')(source, path, { template, saltenv, context });
      if (!done) return missing;
    } else {
      const cached: unknown = await call('cp.cache_file')(source, { saltenv });
      if (typeof cached !== 'string' || cached === '') return missing;
      await copyFile(cached, path);
    }
    const owner = options.runas ? await uidOf(options.runas) : undefined;
    await chmod(path, 0o500);
    if (owner !== undefined) {
      await chown(path, owner, -1);
      await chown(folder, owner, -1);
    }
    const line = args ? `${quoteWord(path)} ${args}` : quoteWord(path);
    return await run_all(line, { ...options, python_shell: true });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/**
 * As `cmd.script`, giving the exit status only.
 *
 * @param source `salt://…`, a URL or a path on the host
 * @example tsalt-ssh '*' cmd.script_retcode salt://scripts/check.sh
 */
export const script_retcode = async (
  source: string,
  options: RunOptions & { args?: string | null; template?: string | null; saltenv?: string } = {},
): Promise<number> => (await script(source, options)).retcode;

/**
 * The path of a command, or null.
 *
 * @param cmd the name of a command
 * @example tsalt-ssh '*' cmd.which git
 */
export const which = async (cmd: string): Promise<string | null> => findCommand(cmd) ?? null;

/**
 * The path of the first of several commands that is there, or null.
 *
 * @param cmds names of commands
 * @example tsalt-ssh '*' cmd.which_bin '[pip3, pip]'
 */
export const which_bin = async (cmds: string[]): Promise<string | null> =>
  cmds.map(findCommand).find(path => path !== undefined) ?? null;

/**
 * Whether a command is there.
 *
 * @param cmd the name of a command
 * @example tsalt-ssh '*' cmd.has_exec git
 */
export const has_exec = async (cmd: string): Promise<boolean> => findCommand(cmd) !== undefined;

/**
 * Runs source code by an interpreter and gives its stdout.
 *
 * @param lang the interpreter, e.g. `bash` or `perl`
 * @param code the program, a text or a list of lines
 * @param cwd the folder to run in
 * @param args arguments for the program
 * @example tsalt-ssh '*' cmd.exec_code bash 'echo "$1"' args='[hello]'
 */
export const exec_code = async (
  lang: string,
  code: string | string[],
  { cwd = null, args = null }: { cwd?: string | null; args?: Plain } = {},
): Promise<string> => (await exec_code_all(lang, code, { cwd, args })).stdout;

/**
 * Runs source code by an interpreter and gives pid, retcode, stdout and stderr.
 *
 * @param lang the interpreter, e.g. `bash` or `perl`
 * @param code the program, a text or a list of lines
 * @param cwd the folder to run in
 * @param args arguments for the program
 * @example tsalt-ssh '*' cmd.exec_code_all perl 'print "hi"'
 */
export const exec_code_all = async (
  lang: string,
  code: string | string[],
  { cwd = null, args = null }: { cwd?: string | null; args?: Plain } = {},
): Promise<RunResult> => {
  const folder = await mkdtemp(join(tmpdir(), 'tsalt-code-'));
  try {
    const file = join(folder, 'code');
    await writeFile(file, Array.isArray(code) ? `${code.join('\n')}\n` : code, { mode: 0o600 });
    return await run_all([lang, file, ...toList(args)], { cwd });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/**
 * The login shells of this machine, from /etc/shells.
 *
 * @example tsalt-ssh '*' cmd.shells
 */
export const shells = async (): Promise<string[]> =>
  (readOr('/etc/shells') ?? '').split('\n').filter(line => line.startsWith('/'));

const levels = ['trace', 'debug', 'info', 'warning', 'error', 'critical'] as const;

/** Runs a command by the rules that all functions here share. */
const execute = async (
  cmd: string | string[],
  options: RunOptions,
): Promise<RunResult & { merged: string }> => {
  refuse(options);
  const runas = options.runas ?? (__context__.runas as string | undefined) ?? undefined;
  const cwd = await folderFor(options.cwd ?? undefined, runas);
  const shown = Array.isArray(cmd) ? cmd.join(' ') : String(cmd);
  const level = levelOf(options.output_loglevel);
  if (level) log.info(`Executing command '${shown}' in directory '${cwd}'`);
  let merged = '';
  const result = await runCommand(toCommand(cmd, options), {
    cwd,
    env: environment(options),
    cleanEnv: options.clean_env,
    runas,
    group: options.group ?? undefined,
    umask: umaskOf(options.umask),
    stdin: stdinOf(options),
    timeout: options.timeout ?? undefined,
    background: options.bg,
    onOutput: (_, text) => {
      merged += text;
    },
  });
  if (result.timedOut) {
    const text = `${shown} : Timed out after ${options.timeout} seconds`;
    __context__.retcode = 1;
    return { pid: result.pid, retcode: 1, stdout: text, stderr: '', merged: text };
  }
  const strip = (text: string): string => (options.rstrip === false ? text : text.trimEnd());
  const stdout = strip(result.stdout);
  const stderr = strip(result.stderr);
  const success =
    successCodes(options.success_retcodes).includes(result.code) ||
    toList(options.success_stdout).some(text => stdout.includes(text)) ||
    toList(options.success_stderr).some(text => stderr.includes(text));
  const retcode = success ? 0 : result.code;
  __context__.retcode = options.ignore_retcode || options.bg ? 0 : retcode;
  if (level) report(shown, retcode, stdout, stderr, options.ignore_retcode === true, level);
  return { pid: result.pid, retcode, stdout, stderr, merged: strip(merged) };
};

const report = (
  shown: string,
  code: number,
  stdout: string,
  stderr: string,
  ignored: boolean,
  level: (typeof levels)[number],
): void => {
  const failed = !ignored && code !== 0;
  if (failed) log.error(`Command '${shown}' failed with return code: ${code}`);
  const at = failed && levels.indexOf(level) < levels.indexOf('error') ? 'error' : level;
  if (stdout) log[at](`stdout: ${stdout}`);
  if (stderr) log[at](`stderr: ${stderr}`);
  if (code !== 0) log[at](`retcode: ${code}`);
};

const refuse = (options: RunOptions): void => {
  if (options.template)
    throw new SaltInvocationError(
      'The argument "template" of cmd functions is not supported: commands of an SLS are rendered with it on the control node. cmd.script renders scripts.',
    );
  const odd = options.env !== null && options.env !== undefined && typeof options.env !== 'object';
  if (odd)
    throw new SaltInvocationError(
      'The argument "env" must be a dict or a list of dicts: {NAME: value}.',
    );
};

const toCommand = (
  cmd: string | string[],
  { shell: own, python_shell, root }: RunOptions,
): readonly [string, ...string[]] => {
  const program = own ?? '/bin/sh';
  const inShell = typeof cmd === 'string' && python_shell !== false;
  if (inShell && !root && !isExecutable(program))
    throw new CommandExecutionError(`The shell ${program} is not available`);
  const words = inShell
    ? [program, '-c', cmd]
    : Array.isArray(cmd)
      ? cmd.map(word => pyStr(word))
      : splitWords(String(cmd));
  const inRoot = root ? ['chroot', root, ...words] : words;
  const [first, ...rest] = inRoot;
  if (first === undefined) throw new SaltInvocationError('There is no command to run.');
  return [first, ...rest];
};

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** Salt's default: the home of the account, or / where that cannot be entered. */
const folderFor = async (cwd: string | undefined, runas: string | undefined): Promise<string> => {
  if (cwd !== undefined && cwd !== '') {
    if (isAbsolute(String(cwd)) && (await isFolder(String(cwd)))) return String(cwd);
    throw new CommandExecutionError(`Specified cwd '${cwd}' either not absolute or does not exist`);
  }
  const home = runas === undefined ? homedir() : await homeOf(runas);
  return home && (await isFolder(home)) ? home : '/';
};

const isFolder = async (path: string): Promise<boolean> => {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
};

const homeOf = async (name: string): Promise<string | undefined> =>
  (await readAccounts()).find(account => account.name === name || String(account.uid) === name)
    ?.home;

const uidOf = async (name: string): Promise<number | undefined> =>
  (await readAccounts()).find(account => account.name === name)?.uid;

const localeVariables = [
  'LC_CTYPE',
  'LC_NUMERIC',
  'LC_TIME',
  'LC_COLLATE',
  'LC_MONETARY',
  'LC_MESSAGES',
  'LC_PAPER',
  'LC_NAME',
  'LC_ADDRESS',
  'LC_TELEPHONE',
  'LC_MEASUREMENT',
  'LC_IDENTIFICATION',
  'LANGUAGE',
];

const environment = (options: RunOptions): Record<string, string | undefined> => {
  const env: Record<string, string | undefined> = {};
  if (options.reset_system_locale !== false) for (const name of localeVariables) env[name] = 'C';
  for (const [name, value] of Object.entries(repackDictList(options.env)))
    env[name] = value === null ? '' : pyStr(value);
  if (options.prepend_path)
    env.PATH = `${options.prepend_path}:${env.PATH ?? process.env.PATH ?? ''}`;
  if (env.NOTIFY_SOCKET === undefined) env.NOTIFY_SOCKET = undefined;
  return env;
};

const umaskOf = (umask: string | number | null | undefined): number | undefined => {
  if (umask === null || umask === undefined) return undefined;
  const digits = String(umask).replace(/^0+/, '');
  if (digits === '') throw new CommandExecutionError('Zero umask is not allowed.');
  if (!/^[0-7]{1,4}$/.test(digits)) throw new CommandExecutionError(`Invalid umask: '${umask}'`);
  return Number.parseInt(digits, 8);
};

const stdinOf = ({ stdin, stdin_raw_newlines }: RunOptions): string | undefined => {
  if (stdin === null || stdin === undefined) return undefined;
  return stdin_raw_newlines ? String(stdin) : String(stdin).replaceAll('\\n', '\n');
};

const successCodes = (value: Plain | undefined): number[] => {
  if (value === null || value === undefined) return [0];
  const codes = toList(value).map(Number);
  if (codes.some(code => !Number.isInteger(code)))
    throw new SaltInvocationError('success_retcodes must be a list of integers');
  return codes;
};

const levelOf = (name: string | undefined): (typeof levels)[number] | undefined => {
  if (name === 'quiet') return undefined;
  return levels.find(level => level === (name ?? 'debug')) ?? 'info';
};

const call = (name: string): ((...args: unknown[]) => Promise<unknown>) => {
  const found = __salt__[name];
  if (!found) throw new CommandExecutionError(`'${name}' is not available.`);
  return found;
};
