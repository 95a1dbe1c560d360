import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { transportContract } from '../../contract/transport.ts';
import { dropbearMissing, startDropbear } from '../../helpers/dropbear.ts';
import { aHost, scratch, startTestHost } from '../../helpers/hosts.ts';
import { hasSshd, startSshd } from '../../helpers/sshd.ts';

transportContract('ssh2 over the embedded server', async () => {
  const target = await startTestHost();
  return {
    host: target.host,
    options: { knownHostsFiles: [target.knownHosts], sshConfig: false, env: {} },
    close: target.close,
  };
});

const realSshd = async (transport: 'ssh2' | 'openssh') => {
  const { path, remove } = scratch();
  const sshd = await startSshd({ dir: join(path, 'sshd') });
  const knownHosts = join(path, 'known_hosts');
  writeFileSync(knownHosts, `[127.0.0.1]:${sshd.port} ${sshd.hostKeys[0]}\n`);
  return {
    host: aHost({ user: sshd.user, port: sshd.port, priv: sshd.key, transport }),
    options: {
      knownHostsFiles: [knownHosts],
      sshConfig: false as const,
      env: { PATH: process.env.PATH, HOME: path },
    },
    close: async () => {
      await sshd.close();
      remove();
    },
  };
};

transportContract('ssh2 over a real sshd', () => realSshd('ssh2'), { skip: !hasSshd });
transportContract('openssh over a real sshd', () => realSshd('openssh'), { skip: !hasSshd });

const dropbear = async (transport: 'ssh2' | 'openssh') => {
  const { path, remove } = scratch();
  const server = await startDropbear(path);
  const knownHosts = join(path, 'known_hosts');
  writeFileSync(knownHosts, `[127.0.0.1]:${server.port} ${server.hostKey}\n`);
  return {
    host: aHost({ user: server.user, port: server.port, priv: server.key, transport }),
    options: {
      knownHostsFiles: [knownHosts],
      sshConfig: false as const,
      env: { PATH: process.env.PATH, HOME: path },
    },
    close: async () => {
      await server.close();
      remove();
    },
  };
};
// dropbear 2022.82 to 2024.85 may end a connection with several processes: its issue 321.
const noDropbear = { skip: dropbearMissing !== undefined, oneAtATime: true };
const why = dropbearMissing === undefined ? '' : ` (${dropbearMissing})`;
transportContract(`ssh2 to dropbear${why}`, () => dropbear('ssh2'), noDropbear);
transportContract(`openssh to dropbear${why}`, () => dropbear('openssh'), noDropbear);

transportContract('local', async () => {
  const { path, remove } = scratch();
  return {
    host: aHost({ host: '@local' }),
    options: { env: { ...process.env, HOME: path } },
    close: remove,
  };
});
