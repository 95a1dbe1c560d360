import type { Client, ClientChannel, PseudoTtyOptions } from 'ssh2';
import type { Host } from '../../protocol/host.ts';
import type { Channel, Connection, ExecOptions, Exit, PersonsTerminal } from '../transport.ts';
import { channelRefused, connectionLost } from './errors.ts';

/** Adapts a logged-in client to `Connection`. `silence`: see `connectionLost`. */
export const connectionOf = (
  client: Client,
  host: Host,
  where: string,
  silence: number,
): Connection => {
  let lost: Error | undefined;
  let closing = false;
  let channels = 0;
  // Each channel listens for the end of the connection.
  client.setMaxListeners(0);
  client.removeAllListeners('error');
  client.removeAllListeners('close');
  client.on('error', error => {
    lost ??= connectionLost(where, silence, error);
  });
  client.on('close', () => {
    if (!closing) lost ??= connectionLost(where, silence);
  });
  return {
    host,
    transport: 'ssh2',
    exec: (command, options) => {
      const isFirst = channels === 0;
      channels += 1;
      return exec(client, where, command, options, { lost: () => lost, isFirst });
    },
    shell: terminal =>
      new Promise((resolve, reject) => {
        client.shell(ptyOf(terminal), (error, channel) =>
          error
            ? reject(lost ?? channelRefused(where, error))
            : resolve(channelOf(client, channel)),
        );
      }),
    forward: (to, port) =>
      new Promise((resolve, reject) => {
        client.forwardOut('127.0.0.1', 0, to, port, (error, stream) =>
          error ? reject(error) : resolve(stream),
        );
      }),
    lost: () => lost,
    close: () => {
      closing = true;
      client.end();
      // Do not wait for a host that does not answer the disconnect.
      setTimeout(() => client.destroy(), 1000).unref();
    },
  };
};

/**
 * Runs a command. Retries if the channel is closed before the command was accepted: some releases
 * of dropbear close one when another process ends at that moment (its issue 321), and with
 * MaxSessions 1 sshd refuses a second one until it has noticed the end of the first.
 */
const exec = (
  client: Client,
  where: string,
  command: string,
  options: ExecOptions | undefined,
  { lost, isFirst, tried = 0 }: { lost: () => Error | undefined; isFirst: boolean; tried?: number },
): Promise<Channel> =>
  new Promise((resolve, reject) => {
    const refused = (error: Error): void => {
      const mayWork =
        (/^Unable to exec/.test(error.message) && tried < 2) ||
        (/open failure/i.test(error.message) && !isFirst && tried < 5);
      if (lost() !== undefined || !mayWork) reject(lost() ?? channelRefused(where, error));
      else
        setTimeout(
          () => {
            const next = { lost, isFirst, tried: tried + 1 };
            exec(client, where, command, options, next).then(resolve, reject);
          },
          100 * 2 ** tried,
        );
    };
    try {
      client.exec(command, options?.pty ? { pty: ptyOf(options.pty) } : {}, (error, channel) => {
        if (error) refused(error);
        else resolve(channelOf(client, channel));
      });
    } catch (error) {
      refused(error instanceof Error ? error : new Error(String(error)));
    }
  });

/** Wide, so that lines do not wrap; without echo, line editing or conversion of line ends. */
const rawTerminal: PseudoTtyOptions = {
  term: 'dumb',
  cols: 1000,
  rows: 50,
  modes: { ECHO: 0, ICANON: 0, ISIG: 0, OPOST: 0, IXON: 0 },
};

const ptyOf = (pty: true | PersonsTerminal): PseudoTtyOptions =>
  pty === true ? rawTerminal : { term: pty.term, cols: pty.columns, rows: pty.rows };

const channelOf = (client: Client, channel: ClientChannel): Channel => {
  let exit: Exit = { code: null, signal: null };
  channel.on('exit', (code: number | null, signal?: string) => {
    exit = { code, signal: signal ?? null };
  });
  const exited = new Promise<Exit>(resolve => {
    channel.once('close', () => resolve(exit));
    client.once('close', () => resolve(exit));
  });
  channel.on('error', () => undefined);
  return {
    stdin: channel,
    stdout: channel,
    stderr: channel.stderr as Channel['stderr'],
    exited,
    signal: name => {
      channel.signal(name);
    },
    close: () => {
      channel.end();
      channel.close();
    },
    resize: ({ columns, rows }) => channel.setWindow(rows, columns, 0, 0),
  };
};
