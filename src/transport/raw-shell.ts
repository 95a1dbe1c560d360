import { TsaltError } from '../protocol/error.ts';
import type { Host, Secret } from '../protocol/host.ts';
import { onAbort } from '../protocol/on-abort.ts';
import {
  askBecomePassword,
  becomeOf,
  becomePassword,
  becomesOther,
  PasswordPrompt,
  wrongBecomePassword,
} from './become.ts';
import { notBegun } from './not-begun.ts';
import { mayWantPassword, shortLines } from './refusal-messages.ts';
import { posixQuote } from './shell.ts';
import type { Connection, Exit } from './transport.ts';
import { cancelled, readable } from './unreachable.ts';

export type RawOptions = {
  readonly connection: Connection;
  readonly host: Host;
  /** As the user typed it: the login shell (with sudo: /bin/sh) receives it unchanged. */
  readonly command: string;
  readonly signal?: AbortSignal;
  /** Seconds; absent: no limit. */
  readonly timeout?: number;
  readonly askSudoPassword?: () => Promise<Secret>;
};

export type RawResult = {
  readonly stdout: string;
  readonly stderr: string;
  readonly retcode: number;
};

const mostOutput = 64 * 1024 * 1024;

/** Milliseconds within which a command must end after a signal. */
const patience = 2000;

/**
 * `-r`: runs one shell command, without runtime or Node on the host. Its stdin is empty.
 * @throws {TsaltError} kind `auth` (sudo), `unreachable` or `host`; a failing command is a result
 */
export const runRaw = async (options: RawOptions): Promise<RawResult> => {
  return await attempt(options, await neededPassword(options));
};

/**
 * Returns the password for the roster's `become`: the roster's, or the user's input if the host
 * requires one.
 * @throws {TsaltError} kind `auth`
 */
export const neededPassword = async (
  options: Omit<RawOptions, 'command'>,
): Promise<Secret | undefined> => {
  const { host, askSudoPassword } = options;
  const password = becomePassword(host);
  if (!becomesOther(host) || password || !askSudoPassword) return password;
  const refused = await sudoRefusal(options);
  return refused && (await askBecomePassword(host, askSudoPassword, refused));
};

/**
 * Checks first whether sudo works without a password, since a raw command must not run twice.
 *
 * @returns the refusal, if a password may help
 */
const sudoRefusal = async (
  options: Omit<RawOptions, 'command'>,
): Promise<TsaltError | undefined> => {
  try {
    await attempt({ ...options, command: ':' }, undefined);
    return undefined;
  } catch (error) {
    const isRefused = error instanceof TsaltError && error.code === 'sudo-refused';
    if (isRefused && mayWantPassword(error.excerpt ?? '')) return error;
    throw error;
  }
};

const attempt = async (options: RawOptions, password: Secret | undefined): Promise<RawResult> => {
  const { connection, host, signal, timeout } = options;
  if (signal?.aborted) throw cancelled(host.id);
  const become = becomeOf(host, password);
  const sudo = becomesOther(host);
  const { pty } = become;
  const started = `tsalt-${host.id.length}-began`;
  const command = sudo
    ? become.wrap(
        `/bin/sh -c ${posixQuote(`exec </dev/null; echo ${started} >&2; ${options.command}`)}`,
      )
    : options.command;
  const channel = await connection.exec(command, { pty });
  let failure: unknown;
  let lastWord: NodeJS.Timeout | undefined;
  let giveUp: () => void = () => undefined;
  const givenUp = new Promise<Exit>(resolve => {
    giveUp = () => resolve({ code: null, signal: null });
  });
  const end = (reason: unknown): void => {
    if (failure !== undefined) return;
    failure = reason;
    channel.signal('TERM');
    channel.close();
    // A command may ignore the first signal.
    lastWord = setTimeout(() => {
      channel.signal('KILL');
      giveUp();
    }, patience);
  };
  const prompt = new PasswordPrompt(
    become,
    line => void channel.stdin.write(line),
    () => end(wrongBecomePassword(host)),
  );
  let size = 0;
  const output = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  for (const name of ['stdout', 'stderr'] as const) {
    channel[name].on('error', () => undefined);
    channel[name].on('data', (chunk: Buffer) => {
      if (name === (pty ? 'stdout' : 'stderr')) prompt.push(chunk);
      size += chunk.length;
      if (size > mostOutput) end(tooMuch(host));
      else output[name].push(chunk);
    });
  }
  channel.stdin.on('error', () => undefined);
  if (become.nonce === undefined) channel.stdin.end();
  const release = onAbort(signal, () => end(cancelled(host.id)));
  const timer =
    timeout === undefined
      ? undefined
      : setTimeout(() => end(tooLong(host, timeout)), timeout * 1000);
  const exit = await Promise.race([channel.exited, givenUp]);
  clearTimeout(timer);
  clearTimeout(lastWord);
  release();
  const [stdout, stderr] = [output.stdout, output.stderr].map(chunks =>
    Buffer.concat(chunks).toString('utf8'),
  ) as [string, string];
  const fault = failure ?? connection.lost() ?? connection.explain?.(exit, readable(stderr));
  if (fault) throw fault;
  if (!sudo) return { stdout, stderr, retcode: exit.code ?? 255 };
  const [prologue, ...rest] = (pty ? stdout : stderr).split(`${started}\n`);
  if (rest.length === 0) throw notBegun(host, become, exit, readable(shortLines(prologue ?? '')));
  const text = rest.join(`${started}\n`);
  return { stdout: pty ? text : stdout, stderr: pty ? '' : text, retcode: exit.code ?? 255 };
};

const tooMuch = (host: Host): TsaltError =>
  new TsaltError('raw-output', `${host.id}: the command printed more than 64 MiB.`, {
    kind: 'host',
    hint: 'Let it write to a file.',
  });

const tooLong = (host: Host, seconds: number): TsaltError =>
  new TsaltError('host-timeout', `${host.id}: not done within ${seconds} s.`, { kind: 'host' });
