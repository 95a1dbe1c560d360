import { readAccounts } from '../_shared/commands/accounts.ts';
import { runCommand } from '../_shared/commands/run-command.ts';
import { isExecutable } from '../_shared/files/file-paths.ts';
import { toList } from '../_shared/states/values.ts';
import { splitCommandArgs } from '../_shared/text/command-args.ts';
import { plainStr } from '../_shared/text/python-text.ts';
import {
  __context__,
  __grains__,
  CommandExecutionError,
  getLogger,
  SaltInvocationError,
} from '../api.ts';
import { ArrivalOrder } from './arrival-order.ts';
import {
  type CommandRunOptions,
  environment,
  folderFor,
  type RunAllResult,
  stdinOf,
  successCodes,
  umaskOf,
} from './cmd-options.ts';
import { fitMerged, fitStreams } from './fit-output.ts';
import { loginEnvironment } from './login-environment.ts';

const log = getLogger('cmd');

/** The most bytes of each stream that are kept: a result is one message. */
const mostOutput = 48 * 1024 * 1024;

const levels = ['trace', 'debug', 'info', 'warning', 'error', 'critical'] as const;

/**
 * Runs a command by the rules that all functions here share. `merged` returns stdout and stderr
 * together; it is a function because the text may be long, and few callers need it.
 */
export const execute = async (
  cmd: string | string[],
  options: CommandRunOptions,
): Promise<RunAllResult & { readonly merged: () => string }> => {
  refuseOthers(options);
  const runas = options.runas ?? (__context__.runas as string | undefined) ?? undefined;
  const cwd = await folderFor(options.cwd ?? undefined, runas);
  const shown = Array.isArray(cmd) ? cmd.join(' ') : String(cmd);
  const level = levelOf(options.output_loglevel);
  const program = programOf(cmd);
  if (level) log.debug(`Executing command '${shown}' in directory '${cwd}'`);
  const order = new ArrivalOrder();
  const result = await runCommand(toCommand(cmd, options), {
    cwd,
    env: environment(options, await loginOf(runas, options.shell)),
    cleanEnv: options.clean_env,
    runas,
    group: options.group ?? undefined,
    umask: umaskOf(options.umask),
    stdin: stdinOf(options),
    timeout: options.timeout ?? undefined,
    background: options.bg,
    outputLimit: mostOutput,
    live: level !== undefined && !options.hide_output,
    onOutput: (stream, text) => order.add(stream, text.length),
  });
  if (result.timedOut) {
    const text = `${shown} : Timed out after ${options.timeout} seconds`;
    __context__.retcode = 1;
    return { pid: result.pid, retcode: 1, stdout: text, stderr: '', merged: () => text };
  }
  const strip = (text: string): string => (options.rstrip === false ? text : text.trimEnd());
  const { dropped } = result;
  const streams = fitStreams(strip(result.stdout), strip(result.stderr), dropped);
  const notes = streams.stdout.note + streams.stderr.note;
  if (notes) log.warning(`${program}:${notes.replaceAll('\n', ' ')}`);
  const stdout = streams.stdout.text + streams.stdout.note;
  const stderr = streams.stderr.text + streams.stderr.note;
  // For a command ended by a signal, the negative signal number, as in Python.
  const code = result.signal === null ? result.code : 128 - result.code;
  const success =
    successCodes(options.success_retcodes).includes(code) ||
    toList(options.success_stdout).some(text => stdout.includes(text)) ||
    toList(options.success_stderr).some(text => stderr.includes(text));
  const retcode = success ? 0 : code;
  __context__.retcode = options.ignore_retcode || options.bg ? 0 : retcode;
  if (level)
    report({ shown, program, retcode, stdout, stderr, level, ignored: !!options.ignore_retcode });
  const merged = (): string => {
    const both = strip(order.merge(result.stdout, result.stderr));
    const { text, note } = fitMerged(both, dropped.stdout + dropped.stderr);
    return text + note;
  };
  return { pid: result.pid, retcode, stdout, stderr, merged };
};

const loginOf = async (
  runas: string | undefined,
  shell: string | null | undefined,
): Promise<Readonly<Record<string, string>>> => {
  if (runas === undefined) return {};
  const account = (await readAccounts()).find(
    ({ name, uid }) => name === String(runas) || String(uid) === String(runas),
  );
  return loginEnvironment(account?.name ?? String(runas), shell ?? defaultShell());
};

type Report = {
  readonly shown: string;
  readonly program: string;
  readonly retcode: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly ignored: boolean;
  readonly level: (typeof levels)[number];
};

/**
 * Logs how a command ended. Its command line and output may contain secrets from the pillar, so
 * unless the caller asks for more (`output_loglevel`), they are logged at level debug. Unlike in
 * Salt, this also applies to failed commands.
 */
const report = ({ shown, program, retcode, stdout, stderr, ignored, level }: Report): void => {
  if (!ignored && retcode !== 0) {
    log.error(`A command failed with return code ${retcode}: ${program} (-l debug logs all of it)`);
    log.debug(`Command '${shown}' failed with return code: ${retcode}`);
  }
  if (stdout) log[level](`stdout: ${stdout}`);
  if (stderr) log[level](`stderr: ${stderr}`);
  if (retcode !== 0) log[level](`retcode: ${retcode}`);
};

/** Returns a command's program without its arguments; that of a longer shell text is not guessed. */
const programOf = (cmd: string | string[]): string => {
  if (Array.isArray(cmd)) return plainStr(cmd[0]);
  const [first = ''] = String(cmd).trim().split(/\s/, 1);
  return /^[\w./+-]+$/.test(first) ? first : 'a shell command';
};

const refuseOthers = (options: CommandRunOptions): void => {
  if (options.template)
    throw new SaltInvocationError(
      'The argument "template" of cmd functions is not supported: commands of an SLS are rendered with it on the control node. cmd.script renders scripts.',
    );
  if (options.log_callback)
    throw new SaltInvocationError(
      'The argument "log_callback" of cmd functions is not supported: it is a function of Python\'s.',
    );
  if (options.encoded_cmd)
    throw new SaltInvocationError(
      'The argument "encoded_cmd" of cmd functions is not supported: it is of PowerShell.',
    );
  if (options.output_encoding && !/^utf[-_]?8$/i.test(options.output_encoding))
    throw new SaltInvocationError(
      `The argument "output_encoding" of cmd functions takes utf-8 only, not ${options.output_encoding}.`,
    );
  const odd = options.env !== null && options.env !== undefined && typeof options.env !== 'object';
  if (odd)
    throw new SaltInvocationError(
      'The argument "env" must be a dict or a list of dicts: {NAME: value}.',
    );
};

const toCommand = (
  cmd: string | string[],
  { shell: own, python_shell }: CommandRunOptions,
): readonly [string, ...string[]] => {
  const program = own ?? defaultShell();
  const inShell = typeof cmd === 'string' && python_shell !== false;
  if (inShell && !isExecutable(program))
    throw new CommandExecutionError(`The shell ${program} is not available`);
  const words = inShell
    ? [program, '-c', cmd]
    : Array.isArray(cmd)
      ? cmd.map(word => plainStr(word))
      : splitCommandArgs(String(cmd));
  const [first, ...rest] = words;
  if (first === undefined) throw new SaltInvocationError('There is no command to run.');
  return [first, ...rest];
};

/** Returns the default shell of this host, from the grain `shell`. */
const defaultShell = (): string => String(__grains__.shell ?? '/bin/sh');

const levelOf = (name: string | undefined): (typeof levels)[number] | undefined => {
  if (name === 'quiet') return undefined;
  return levels.find(level => level === (name ?? 'debug')) ?? 'info';
};
