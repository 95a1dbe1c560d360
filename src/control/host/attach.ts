import { once } from 'node:events';
import type { Channel } from '../../transport/transport.ts';
import { EscapeKeys } from './escape-keys.ts';

/** The streams of a command line. */
export type LocalStreams = {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
};

/** The exit codes that a shell uses for a signal. */
const signals: Readonly<Record<string, number>> = {
  HUP: 129,
  INT: 130,
  QUIT: 131,
  ABRT: 134,
  KILL: 137,
  SEGV: 139,
  PIPE: 141,
  TERM: 143,
};

/**
 * Connects a command on a host with the streams of this process until it ends. At a terminal, each
 * key goes to the host, and the host's terminal gets the size of this one.
 *
 * @returns the exit code of the command
 */
export const attach = async (
  channel: Channel,
  { stdin, stdout, stderr }: LocalStreams,
  isTerminal: boolean,
): Promise<number> => {
  const keys = new EscapeKeys(() => channel.close());
  const send = (chunk: Buffer): void => {
    const bytes = isTerminal ? keys.take(chunk) : chunk;
    if (bytes.length > 0 && !channel.stdin.write(bytes)) stdin.pause();
  };
  const resize = (): void =>
    channel.resize?.({ columns: stdout.columns ?? 80, rows: stdout.rows ?? 24 });
  const endInput = (): void => void channel.stdin.end();
  const stop = (): void => {
    channel.signal('INT');
    channel.close();
  };
  channel.stdin.on('drain', () => stdin.resume());
  for (const stream of [channel.stdin, channel.stdout, channel.stderr])
    stream.on('error', () => undefined);
  // The reader is gone.
  for (const stream of [stdout, stderr]) stream.on('error', () => channel.close());
  const ended = [channel.stdout, channel.stderr].map(stream =>
    stream.readableEnded ? undefined : once(stream, 'close').catch(() => undefined),
  );
  channel.stdout.pipe(stdout, { end: false });
  channel.stderr.pipe(stderr, { end: false });
  stdin.on('data', send);
  stdin.on('end', endInput);
  if (isTerminal) {
    stdin.setRawMode(true);
    stdout.on('resize', resize);
    resize();
  } else for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, stop);
  stdin.resume();
  try {
    const { code, signal } = await channel.exited;
    await Promise.race([Promise.all(ended), new Promise(resolve => setTimeout(resolve, 500))]);
    return code ?? signals[(signal ?? '').replace(/^SIG/, '')] ?? 255;
  } finally {
    stdin.off('data', send);
    stdin.off('end', endInput);
    stdout.off('resize', resize);
    if (isTerminal) stdin.setRawMode(false);
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.off(name, stop);
    // A pipe that stays open would keep the process alive.
    stdin.destroy();
  }
};
