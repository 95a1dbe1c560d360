import { TsaltError } from '../protocol/error.ts';
import type { Host } from '../protocol/host.ts';
import type { Transport, TransportName, TransportOptions } from './transport.ts';
import { readable } from './unreachable.ts';

/**
 * Combines all transports of one run: each host uses the transport of its roster entry, or else the
 * run's, or else `ssh2`. An implementation is loaded when the first host needs it.
 */
export const openTransport = (options: TransportOptions = {}): Transport => {
  const opened = new Map<TransportName, Promise<Transport>>();
  const get = (name: TransportName): Promise<Transport> => {
    const transport = opened.get(name) ?? load(name, options);
    opened.set(name, transport);
    return transport;
  };
  return {
    connect: async (host, rest) => {
      const name = nameOf(host, options);
      if (host.remote_port_forwards?.length && name !== 'ssh2' && name !== 'openssh')
        throw noTunnels(host, name);
      return (await get(name)).connect(host, rest);
    },
    close: () => {
      for (const transport of opened.values())
        transport.then(
          one => one.close(),
          () => undefined,
        );
      opened.clear();
    },
  };
};

const nameOf = (host: Host, options: TransportOptions): TransportName =>
  host.transport ?? (host.host === '@local' ? 'local' : undefined) ?? options.transport ?? 'ssh2';

const noTunnels = (host: Host, name: string): TsaltError =>
  new TsaltError('tunnel', `${host.id}: transport ${name} has no remote_port_forwards.`, {
    kind: 'host',
    hint: 'Only ssh can carry tunnels.',
  });

const load = async (name: TransportName, options: TransportOptions): Promise<Transport> => {
  switch (name) {
    case 'ssh2':
      return (await import('./ssh2/ssh2.ts')).ssh2Transport(options);
    case 'local':
      return (await import('./local.ts')).localTransport(options);
    case 'openssh':
      return (await import('./openssh.ts')).opensshTransport(options);
    case 'chroot':
    case 'container':
      return (await import('./container.ts')).containerTransport(options);
    default:
      throw new TsaltError('transport-name', `There is no transport "${readable(name, 40)}".`, {
        hint: 'Known are ssh2, openssh, local, chroot and container.',
      });
  }
};
