import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { CommandExecutionError, getContext } from '../../api.ts';
import { forgetTrusted } from '../safe-fs/verdicts.ts';
import { behindChange } from './change-identity.ts';
import { forgetChild, noteChild } from './run-children.ts';
import { type Identity, isFolder, resolveIdentity } from './run-identity.ts';
import { searchPath, which } from './which.ts';

/** A program with its arguments, or a line for a shell (`/bin/sh` unless named). */
export type Command =
  | readonly [string, ...string[]]
  | { readonly shell?: string | undefined; readonly command: string };

export type CommandOptions = {
  readonly cwd?: string | undefined;
  /** Added to the runtime's environment; `undefined` and `null` take a variable away. */
  readonly env?: Readonly<Record<string, string | null | undefined>> | undefined;
  /** Start from an empty environment instead. */
  readonly cleanEnv?: boolean | undefined;
  /** Sets LC_ALL=C, for output that a program reads. */
  readonly plainLocale?: boolean | undefined;
  /** The user to run as: a name or an uid. */
  readonly runas?: string | number | undefined;
  /** The primary group to run with. */
  readonly group?: string | number | undefined;
  readonly umask?: number | undefined;
  readonly stdin?: string | Uint8Array | undefined;
  /** Seconds; the whole process group is killed when they have passed. */
  readonly timeout?: number | undefined;
  /** Bytes kept of each of stdout and stderr; the rest is read and dropped. */
  readonly outputLimit?: number | undefined;
  /** Called with every piece of the output that is kept, as it comes. */
  readonly onOutput?: ((stream: 'stdout' | 'stderr', text: string) => void) | undefined;
  /** The output is shown while the command runs; a function may change it before. */
  readonly live?: boolean | ((text: string) => string) | undefined;
  /** Start it and answer at once; output is dropped. */
  readonly background?: boolean | undefined;
};

export type CommandResult = {
  /** Exit status; 128 + n after signal n, as shells count. */
  readonly code: number;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly pid: number;
  readonly timedOut: boolean;
  /** Bytes that were read and not kept: `outputLimit`. */
  readonly dropped: { readonly stdout: number; readonly stderr: number };
};

const defaultOutputLimit = 64 * 1024 * 1024;
const killGrace = 2000;
/** How long output of background grandchildren is waited for after the command itself ended. */
const drainGrace = 500;

const live = new Set<ChildProcess>();
let started = 0;

/** How many commands this process has started: what was asked before one of them may not hold after it. */
export const commandCount = (): number => started;

/** Ends every command that still runs, with its process group; SIGKILL follows after a moment. */
export const killAllChildren = async (): Promise<void> => {
  const children = [...live];
  for (const child of children) killGroup(child, 'SIGTERM');
  await Promise.race([
    Promise.all(children.map(child => exited(child))),
    new Promise(resolve => setTimeout(resolve, killGrace)),
  ]);
  for (const child of children) if (live.has(child)) killGroup(child, 'SIGKILL');
};

/** Ends at once, by SIGKILL, what still runs: for a process about to end, which can wait no more. */
export const forceAllChildren = (): void => {
  for (const child of live) killGroup(child, 'SIGKILL');
};

/**
 * Runs a command to its end. It gets a process group of its own, /dev/null as stdin unless
 * `stdin` is given, and never the runtime's own stdout.
 *
 * @throws CommandExecutionError when it cannot be started (not found, no such user or folder)
 */
export const runCommand = async (
  command: Command,
  options: CommandOptions = {},
): Promise<CommandResult> => {
  const identity = await resolveIdentity(options, askPasswd);
  const argv = toArgv(command);
  const cwd = options.cwd ?? identity.home ?? process.cwd();
  if (!isFolder(cwd))
    throw new CommandExecutionError(
      `Cannot run ${argv[0]}: the working directory ${cwd} does not exist.`,
    );
  const env = environment(options, identity.env);
  const { changer } = identity;
  const outer = changer ? behindChange(changer, argv, env) : { argv, env };
  const child = start(outer.argv, cwd, outer.env, identity, options);
  return await collect(child, argv[0], options);
};

const askPasswd = async (name: string): Promise<string> =>
  (await runCommand(['getent', 'passwd', '--', name])).stdout;

/** `runCommand` for programs whose failure is the caller's failure. */
export const runChecked = async (
  command: Command,
  options: CommandOptions = {},
): Promise<CommandResult> => {
  const result = await runCommand(command, options);
  if (result.code === 0) return result;
  const name = Array.isArray(command)
    ? command.join(' ')
    : (command as { command: string }).command;
  const why = result.timedOut
    ? `no end after ${options.timeout} seconds`
    : (result.stderr.trim() || result.stdout.trim()).slice(-4000);
  throw new CommandExecutionError(`"${name}" failed with exit status ${result.code}: ${why}`);
};

const toArgv = (command: Command): readonly [string, ...string[]] =>
  'command' in command
    ? [command.shell ?? '/bin/sh', '-c', command.command]
    : (command as readonly [string, ...string[]]);

const localeVariable = /^(?:LC_|LANG$|LANGUAGE$)/;

const environment = (
  { env, cleanEnv, plainLocale }: CommandOptions,
  own: Readonly<Record<string, string>>,
): NodeJS.ProcessEnv => {
  const all: NodeJS.ProcessEnv = cleanEnv ? {} : { ...process.env, ...own };
  // Programs start others by name: mkfs starts mkfs.ext4, which is in /sbin.
  if (!cleanEnv && own.PATH === undefined) all.PATH = searchPath(all.PATH ?? '').join(':');
  if (plainLocale) {
    for (const name of Object.keys(all)) if (localeVariable.test(name)) delete all[name];
    all.LC_ALL = 'C';
  }
  for (const [name, value] of Object.entries(env ?? {}))
    if (value === undefined || value === null) delete all[name];
    else all[name] = value;
  return all;
};

const start = (
  argv: readonly [string, ...string[]],
  cwd: string,
  env: NodeJS.ProcessEnv,
  { uid, gid }: Identity,
  { stdin, umask, background }: CommandOptions,
): ChildProcess => {
  started += 1;
  forgetTrusted();
  const [name, ...args] = argv;
  const program = name.includes('/') ? name : (which(name) ?? name);
  const output = background ? 'ignore' : 'pipe';
  const before = umask === undefined ? undefined : process.umask(umask);
  try {
    return spawn(program, args, {
      cwd,
      env,
      detached: true,
      stdio: [stdin === undefined ? 'ignore' : 'pipe', output, output],
      ...(uid === undefined ? {} : { uid }),
      ...(gid === undefined ? {} : { gid }),
    });
  } finally {
    if (before !== undefined) process.umask(before);
  }
};

const collect = (
  child: ChildProcess,
  name: string,
  options: CommandOptions,
): Promise<CommandResult> =>
  new Promise((resolve, reject) => {
    const { stdin, timeout, outputLimit = defaultOutputLimit, background } = options;
    const onOutput = outputTaker(options);
    let timedOut = false;
    if (!background && child.pid !== undefined) {
      live.add(child);
      noteChild(child.pid, name);
    }
    const stdout = gather(child.stdout, outputLimit, text => onOutput?.('stdout', text));
    const stderr = gather(child.stderr, outputLimit, text => onOutput?.('stderr', text));
    const timers: NodeJS.Timeout[] = [];
    const settle = (code: number | null, signal: NodeJS.Signals | null): void => {
      for (const timer of timers) clearTimeout(timer);
      resolve({
        code: code ?? 128 + (signal ? (signalNumbers[signal] ?? 0) : 0),
        signal,
        stdout: stdout.text(),
        stderr: stderr.text(),
        pid: child.pid ?? 0,
        timedOut,
        dropped: { stdout: stdout.dropped(), stderr: stderr.dropped() },
      });
    };
    child.once('error', error => {
      live.delete(child);
      for (const timer of timers) clearTimeout(timer);
      reject(startFailure(name, error));
    });
    child.once('spawn', () => {
      if (background) {
        child.unref();
        settle(0, null);
        return;
      }
      if (timeout !== undefined && timeout > 0)
        timers.push(
          setTimeout(() => {
            timedOut = true;
            killGroup(child, 'SIGTERM');
            timers.push(setTimeout(() => killGroup(child, 'SIGKILL'), killGrace));
          }, timeout * 1000),
        );
    });
    if (background) return;
    child.once('exit', (code, signal) => {
      live.delete(child);
      forgetChild(child.pid ?? 0);
      forgetTrusted();
      // A daemon it left behind may hold the pipes open for good: its output is drained, unread.
      timers.push(
        setTimeout(() => {
          for (const stream of [child.stdout, child.stderr])
            if (stream && 'unref' in stream) (stream as { unref(): void }).unref();
          settle(code, signal);
        }, drainGrace),
      );
    });
    child.once('close', settle);
    if (stdin !== undefined) {
      child.stdin?.on('error', () => {}); // it ended without reading all of its input
      child.stdin?.end(stdin);
    }
  });

const outputTaker = ({ onOutput, live: shown }: CommandOptions): CommandOptions['onOutput'] => {
  const output = shown ? getContext().output : undefined;
  if (output === undefined) return onOutput;
  const change = typeof shown === 'function' ? shown : (text: string) => text;
  return (stream, text) => {
    onOutput?.(stream, text);
    output(stream, change(text));
  };
};

/** Reads a stream to text, keeping at most `limit` bytes. */
const gather = (
  stream: Readable | null,
  limit: number,
  onText: (text: string) => void,
): { readonly text: () => string; readonly dropped: () => number } => {
  let text = '';
  // A character may end in the next piece.
  const decoder = new StringDecoder('utf8');
  let size = 0;
  let dropped = 0;
  const add = (piece: string): void => {
    text += piece;
    onText(piece);
  };
  stream?.on('data', (chunk: Buffer) => {
    const kept = chunk.subarray(0, limit - size);
    dropped += chunk.length - kept.length;
    if (kept.length === 0) return;
    size += kept.length;
    add(decoder.write(kept));
  });
  stream?.on('end', () => add(decoder.end()));
  return { text: () => text, dropped: () => dropped };
};

const startFailure = (name: string, error: NodeJS.ErrnoException): CommandExecutionError => {
  const reasons: Record<string, string> = {
    ENOENT: 'command not found',
    EACCES: 'permission denied',
    E2BIG: 'its arguments are too long',
    ENOEXEC: 'it is no program this machine can run',
  };
  return new CommandExecutionError(
    `Cannot run ${name}: ${reasons[error.code ?? ''] ?? error.message}.`,
  );
};

const killGroup = (child: ChildProcess, signal: NodeJS.Signals): void => {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    child.kill(signal);
  }
};

const exited = (child: ChildProcess): Promise<void> =>
  child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve()
    : new Promise(resolve => child.once('exit', () => resolve()));

const signalNumbers: Readonly<Record<string, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGILL: 4,
  SIGABRT: 6,
  SIGBUS: 7,
  SIGFPE: 8,
  SIGKILL: 9,
  SIGUSR1: 10,
  SIGSEGV: 11,
  SIGUSR2: 12,
  SIGPIPE: 13,
  SIGALRM: 14,
  SIGTERM: 15,
};
