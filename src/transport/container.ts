import { stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { TsaltError } from '../protocol/error.ts';
import type { Host } from '../protocol/host.ts';
import { loginShell } from './login-shell.ts';
import { processChannel } from './process-channel.ts';
import type { Transport, TransportOptions } from './transport.ts';
import { readable } from './unreachable.ts';

/**
 * Connects to systems on this machine without sshd: a directory tree through `chroot`
 * (`@chroot/srv/tree`), a container through `docker` or `podman` (`docker:name`, `podman:name`).
 */
export const containerTransport = ({ env = process.env }: TransportOptions): Transport => ({
  connect: async host => {
    const [program, ...args] = host.transport === 'chroot' ? await chroot(host) : container(host);
    return {
      host,
      transport: host.transport === 'chroot' ? 'chroot' : 'container',
      exec: command => processChannel(program, [...args, '/bin/sh', '-c', command], { env }),
      foreground: (command = loginShell) => ({
        program,
        args: [...withTerminal(program, args, env.TERM), '/bin/sh', '-c', command],
        env,
      }),
      lost: () => undefined,
      close: () => undefined,
    };
  },
  close: () => undefined,
});

const withTerminal = (program: string, args: readonly string[], term = 'dumb'): string[] =>
  program === 'chroot'
    ? [...args, `TERM=${term}`]
    : ['exec', '-t', '-e', `TERM=${term}`, ...args.slice(1)];

const chroot = async (host: Host): Promise<[string, ...string[]]> => {
  const root = host.host.replace(/^@chroot/, '');
  const isTree =
    isAbsolute(root) &&
    (await stat(root).then(
      found => found.isDirectory(),
      () => false,
    ));
  if (!isTree)
    throw new TsaltError(
      'chroot',
      `${host.id}: there is no directory ${readable(root, 200)} to chroot into.`,
      {
        kind: 'unreachable',
      },
    );
  const home = host.user === 'root' ? '/root' : `/home/${host.user}`;
  return [
    'chroot',
    ...(host.user === 'root' ? [] : [`--userspec=${host.user}`]),
    '--',
    root,
    'env',
    '-i',
    `HOME=${home}`,
    'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  ];
};

const container = (host: Host): [string, ...string[]] => {
  const match = /^(?:(docker|podman):)?([A-Za-z0-9][A-Za-z0-9_.-]*)$/.exec(host.host);
  if (!match?.[2])
    throw new TsaltError(
      'container',
      `${host.id}: "${readable(host.host, 80)}" is not a container name.`,
      {
        hint: 'Write docker:NAME or podman:NAME.',
      },
    );
  const user = host.user === 'root' ? [] : ['--user', host.user];
  return [match[1] ?? 'docker', 'exec', '-i', ...user, match[2]];
};
