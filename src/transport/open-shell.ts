import { PassThrough } from 'node:stream';
import type { Host, Secret } from '../protocol/host.ts';
import { onAbort } from '../protocol/on-abort.ts';
import { becomeOf, becomesOther, PasswordPrompt, wrongBecomePassword } from './become.ts';
import { loginShell } from './login-shell.ts';
import { notBegun } from './not-begun.ts';
import { neededPassword } from './raw-shell.ts';
import { shortLines } from './refusal-messages.ts';
import { posixQuote } from './shell.ts';
import type { Channel, Connection, PersonsTerminal } from './transport.ts';
import { cancelled, readable } from './unreachable.ts';

export type OpenShellOptions = {
  readonly connection: Connection;
  readonly host: Host;
  /** Absent: a login shell. */
  readonly command?: string;
  /** The user's terminal; absent if the streams are pipes. */
  readonly terminal?: PersonsTerminal;
  readonly askSudoPassword?: () => Promise<Secret>;
  readonly signal?: AbortSignal;
};

/** Characters that sudo, or a starting shell, may print before the command begins. */
const longestPrologue = 64 * 1024;

/**
 * Starts a command or a login shell with interactive or piped streams, as the user of the roster's
 * `become`. Password prompts are answered before it returns.
 * @throws {TsaltError} kind `auth` (sudo), `unreachable` or `host`
 */
export const openShell = async (options: OpenShellOptions): Promise<Channel> => {
  const { connection, host, command, terminal } = options;
  if (becomesOther(host)) return openAsOther(options, await neededPassword(options));
  if (command === undefined && terminal && connection.shell) return connection.shell(terminal);
  return connection.exec(command ?? loginShell, { pty: terminal ?? false });
};

const openAsOther = async (
  options: OpenShellOptions,
  password: Secret | undefined,
): Promise<Channel> => {
  const { connection, host, command = loginShell, terminal, signal } = options;
  const become = becomeOf(terminal ? { ...host, tty: true } : host, password);
  const mark = `tsalt-${host.id.length}-began`;
  const settings = terminal ? 'stty sane 2>/dev/null; ' : '';
  const script = `echo ${mark} >&2; ${settings}${command}`;
  const pty = terminal ?? become.pty;
  const channel = await connection.exec(become.wrap(`/bin/sh -c ${posixQuote(script)}`), { pty });
  const marked = pty ? channel.stdout : channel.stderr;
  const rest = new PassThrough();
  const failure = new Promise<never>((_, reject) => {
    const prompt = new PasswordPrompt(
      become,
      line => void channel.stdin.write(line),
      () => reject(wrongBecomePassword(host)),
    );
    marked.on('data', (chunk: Buffer) => prompt.push(chunk));
    void channel.exited.then(exit => {
      const fault = connection.lost() ?? connection.explain?.(exit, readable(prologue));
      reject(fault ?? notBegun(host, become, exit, readable(shortLines(prologue))));
    });
  });
  failure.catch(() => undefined);
  let prologue = '';
  const begun = new Promise<void>(resolve => {
    const look = (chunk: Buffer): void => {
      prologue = (prologue + chunk.toString('latin1')).slice(-longestPrologue);
      const at = prologue.search(new RegExp(`${mark}\\r?\\n`));
      if (at < 0) return;
      marked.removeAllListeners('data');
      rest.write(Buffer.from(prologue.slice(prologue.indexOf('\n', at) + 1), 'latin1'));
      marked.pipe(rest);
      resolve();
    };
    marked.on('data', look);
  });
  const release = onAbort(signal, () => channel.close());
  try {
    await Promise.race([begun, failure]);
  } catch (error) {
    channel.close();
    throw signal?.aborted ? cancelled(host.id) : error;
  } finally {
    release();
  }
  return { ...channel, ...(pty ? { stdout: rest } : { stderr: rest }) };
};
