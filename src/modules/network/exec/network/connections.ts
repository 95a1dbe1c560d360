import { runCommand } from '../../../_shared/commands/run-command.ts';
import type { PlainDict } from '../../../api.ts';

type Socket = {
  proto: string;
  'recv-q': string;
  'send-q': string;
  'local-address': string;
  'remote-address': string;
  state?: string;
  user: string;
  inode: string;
  program: string;
};

/**
 * Returns the sockets of this machine, from `ss`: protocol, addresses, state, user, program.
 *
 * @example tsalt-ssh '*' network.netstat
 */
export const netstat = async (): Promise<Socket[]> => {
  const { stdout } = await runCommand(['ss', '-H', '-tulpnea'], { plainLocale: true, cwd: '/' });
  return stdout.split('\n').flatMap(parseSocket);
};

const parseSocket = (line: string): Socket[] => {
  const [proto = '', state = '', received = '', sent = '', local, remote] = line
    .trim()
    .split(/\s+/);
  if (local === undefined || remote === undefined) return [];
  const detail = (name: string): string => new RegExp(`\\b${name}:(\\S+)`).exec(line)?.[1] ?? '0';
  return [
    {
      proto,
      'recv-q': received,
      'send-q': sent,
      'local-address': local,
      'remote-address': remote,
      ...(proto.startsWith('tcp') ? { state: state === 'ESTAB' ? 'ESTABLISHED' : state } : {}),
      user: detail('uid'),
      inode: detail('ino'),
      program: /users:\(\("([^"]*)"/.exec(line)?.[1] ?? '',
    },
  ];
};

/**
 * The TCP connections that stand.
 *
 * @example tsalt-ssh '*' network.active_tcp
 */
export const active_tcp = async (): Promise<PlainDict> => {
  const split = (address: string): [string, string] => {
    const at = address.lastIndexOf(':');
    return [address.slice(0, at).replace(/^\[|\]$/g, ''), address.slice(at + 1)];
  };
  const { stdout } = await runCommand(['ss', '-H', '-tn', 'state', 'established'], {
    plainLocale: true,
    cwd: '/',
  });
  const standing = stdout
    .split('\n')
    .map(line => line.trim().split(/\s+/))
    .filter(columns => columns.length >= 4);
  return Object.fromEntries(
    standing.map(([, , local = '', remote = ''], at) => [
      String(at),
      {
        local_addr: split(local)[0],
        local_port: split(local)[1],
        remote_addr: split(remote)[0],
        remote_port: split(remote)[1],
      },
    ]),
  );
};
