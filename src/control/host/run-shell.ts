import { spawn } from 'node:child_process';
import type { Request } from '../../config/request.ts';
import { TsaltError } from '../../protocol/error.ts';
import type { RunEvent } from '../../protocol/event.ts';
import type { Host } from '../../protocol/host.ts';
import { becomeAtTerminal, becomesOther } from '../../transport/become.ts';
import { loginShell } from '../../transport/login-shell.ts';
import { openShell } from '../../transport/open-shell.ts';
import { openTransport } from '../../transport/open-transport.ts';
import { posixQuote } from '../../transport/shell.ts';
import type { Connection } from '../../transport/transport.ts';
import { attach, type LocalStreams } from './attach.ts';
import { logInTo } from './log-in.ts';
import { transportOptions } from './transport-options.ts';

export type ShellRun = {
  readonly request: Request;
  /** Including its secrets. */
  readonly host: Host;
  /** Absent: a login shell. */
  readonly command?: string;
  readonly streams: LocalStreams;
  readonly emit: (event: RunEvent) => void;
};

/**
 * Logs in to a host as a run does, and runs a command or a login shell there with the streams of
 * this process. It has a terminal where this process has one at both ends.
 *
 * @returns the exit code of the command
 * @throws {TsaltError} kind `unreachable`, `host-key`, `auth` or `host`
 */
export const runShell = async (run: ShellRun): Promise<number> => {
  const { request, host, command, streams, emit } = run;
  const stop = new AbortController();
  const { signal } = stop;
  const interrupt = (): void => stop.abort();
  const transport = openTransport(transportOptions(request, emit));
  process.once('SIGINT', interrupt);
  try {
    const connection = await logInTo({
      request,
      transport,
      host,
      signal,
      emit,
      connect: { signal },
    });
    try {
      const isTerminal = streams.stdin.isTTY === true && streams.stdout.isTTY === true;
      if (isTerminal && connection.foreground)
        return await inForeground(run, connection.foreground);
      const channel = await openShell({
        connection,
        host,
        ...(command === undefined ? {} : { command }),
        ...(isTerminal ? { terminal: terminalOf(request, streams) } : {}),
        askSudoPassword: () =>
          request.ask({
            host: host.id,
            what: 'sudo-password',
            prompt: `[sudo] password for ${host.user}@${host.id}: `,
          }),
        signal,
      });
      process.off('SIGINT', interrupt);
      const code = await attach(channel, streams, isTerminal);
      const lost = connection.lost();
      if (lost !== undefined) throw lost;
      return code;
    } finally {
      connection.close();
    }
  } finally {
    process.off('SIGINT', interrupt);
    transport.close();
  }
};

const terminalOf = ({ env }: Request, { stdout }: LocalStreams) => ({
  term: env.TERM || 'dumb',
  columns: stdout.columns ?? 80,
  rows: stdout.rows ?? 24,
});

/** Runs a child that uses the terminal directly: sudo asks its question there. */
const inForeground = async (
  { host, command }: ShellRun,
  foreground: NonNullable<Connection['foreground']>,
): Promise<number> => {
  const other = becomesOther(host)
    ? becomeAtTerminal(host, `/bin/sh -c ${posixQuote(command ?? loginShell)}`)
    : command;
  const { program, args, env, cwd } = foreground(other);
  const options = { env, stdio: 'inherit', ...(cwd === undefined ? {} : { cwd }) } as const;
  const child = spawn(program, [...args], options);
  // The terminal's signal keys reach the child too.
  const ignore = (): void => undefined;
  process.on('SIGINT', ignore);
  process.on('SIGQUIT', ignore);
  try {
    return await new Promise<number>((resolve, reject) => {
      child.once('error', (error: NodeJS.ErrnoException) =>
        reject(
          new TsaltError('transport-program', `The program ${program} cannot be started.`, {
            kind: 'unreachable',
            hint: error.code === 'ENOENT' ? 'Is it installed?' : undefined,
            cause: error,
          }),
        ),
      );
      child.once('exit', (code, signal) => resolve(code ?? (signal === 'SIGINT' ? 130 : 255)));
    });
  } finally {
    process.off('SIGINT', ignore);
    process.off('SIGQUIT', ignore);
  }
};
