import { homedir } from 'node:os';
import { isAbsolute } from 'node:path';
import { readAccounts } from '../_shared/commands/accounts.ts';
import { stat } from '../_shared/safe-fs/promises.ts';
import { repackDictList, toList } from '../_shared/states/values.ts';
import { plainStr } from '../_shared/text/python-text.ts';
import { CommandExecutionError, type Plain, type PlainDict, SaltInvocationError } from '../api.ts';

/** Keyword arguments of every function that runs a command. */
export type CommandRunOptions = {
  /** the folder to run in; the home of the account by default */
  cwd?: string | null;
  /** text for its standard input */
  stdin?: string | null;
  /** the account to run as, in the environment of its login */
  runas?: string | null;
  /** the group to run with */
  group?: string | null;
  /** the shell, by default the one of the grain `shell` */
  shell?: string | null;
  /** false: split the text into words and use no shell */
  python_shell?: boolean | null;
  /** variables to add, a dict or a list of dicts */
  env?: PlainDict | PlainDict[] | null;
  /** true: no variables but those of `env` */
  clean_env?: boolean;
  /** refused: the commands of an SLS are rendered with it */
  template?: string | null;
  /** false: keep blanks at the end of the output */
  rstrip?: boolean;
  /** octal mask for new files */
  umask?: string | number | null;
  /** only UTF-8 output is supported; other encodings are refused */
  output_encoding?: string | null;
  /** level at which the output is logged, `quiet` for not at all */
  output_loglevel?: string;
  /** refused: it is a Python function */
  log_callback?: null;
  /** true: answer without the output */
  hide_output?: boolean;
  /** seconds after which the command and its children are killed */
  timeout?: number | null;
  /** false: keep the locale of the account */
  reset_system_locale?: boolean;
  /** true: a failure is neither logged nor passed on as the exit status */
  ignore_retcode?: boolean;
  /** has no effect: it is where a template's files are */
  saltenv?: string | null;
  /** has no effect: commands run without a terminal */
  use_vt?: boolean;
  /** true: start it and do not wait */
  bg?: boolean;
  /** has no effect: only needed on Windows */
  password?: string | null;
  /** refused: it is of PowerShell */
  encoded_cmd?: boolean;
  /** true: throw when the command fails */
  raise_err?: boolean;
  /** folders to put in front of PATH */
  prepend_path?: string | null;
  /** exit statuses that count as 0 */
  success_retcodes?: Plain;
  /** texts in stdout that make it a success */
  success_stdout?: Plain;
  /** texts in stderr that make it a success */
  success_stderr?: Plain;
  /** true: `\\n` in `stdin` is not turned into a line end */
  stdin_raw_newlines?: boolean;
  [other: string]: unknown;
};

/** The result of `run_all`. */
export type RunAllResult = { pid: number; retcode: number; stdout: string; stderr: string };

/**
 * Returns the folder to run in. Salt's default is the account's home, or / if that cannot be
 * entered.
 */
export const folderFor = async (
  cwd: string | undefined,
  runas: string | undefined,
): Promise<string> => {
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

/**
 * Returns the environment of a command: the variables of this process, of its account's login, and
 * its own.
 */
export const environment = (
  options: CommandRunOptions,
  login: Readonly<Record<string, string>> = {},
): Record<string, string | undefined> => {
  const env: Record<string, string | undefined> = {};
  if (options.reset_system_locale !== false) for (const name of localeVariables) env[name] = 'C';
  Object.assign(env, login);
  for (const [name, value] of Object.entries(repackDictList(options.env)))
    env[name] = value === null ? '' : plainStr(value);
  if (options.prepend_path)
    env.PATH = `${options.prepend_path}:${env.PATH ?? process.env.PATH ?? ''}`;
  if (env.NOTIFY_SOCKET === undefined) env.NOTIFY_SOCKET = undefined;
  return env;
};

export const umaskOf = (umask: string | number | null | undefined): number | undefined => {
  if (umask === null || umask === undefined) return undefined;
  const digits = String(umask).replace(/^0+/, '');
  if (digits === '') throw new CommandExecutionError('Zero umask is not allowed.');
  if (!/^[0-7]{1,4}$/.test(digits)) throw new CommandExecutionError(`Invalid umask: '${umask}'`);
  return Number.parseInt(digits, 8);
};

export const stdinOf = ({ stdin, stdin_raw_newlines }: CommandRunOptions): string | undefined => {
  if (stdin === null || stdin === undefined) return undefined;
  return stdin_raw_newlines ? String(stdin) : String(stdin).replaceAll('\\n', '\n');
};

export const successCodes = (value: Plain | undefined): number[] => {
  if (value === null || value === undefined) return [0];
  const codes = toList(value).map(Number);
  if (codes.some(code => !Number.isInteger(code)))
    throw new SaltInvocationError('success_retcodes must be a list of integers');
  return codes;
};
