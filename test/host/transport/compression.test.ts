import { existsSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import ssh2, { type ServerChannel } from 'ssh2';
import { afterAll, expect, test } from 'vitest';
import { Secret } from '../../../src/protocol/host.ts';
import { openTransport } from '../../../src/transport/open-transport.ts';
import type { Connection } from '../../../src/transport/transport.ts';
import { newKey } from '../../helpers/embedded-server.ts';
import { fault } from '../../helpers/fault.ts';
import { aHost, scratch } from '../../helpers/hosts.ts';

const { path: dir, remove } = scratch('tsalt-compression');
afterAll(remove);

/** Private parts of ssh2's side of the server. */
type Writer = {
  readonly _protocol: {
    readonly _packetRW: { write: { alloc(n: number): Buffer; finalize(packet: Buffer): Buffer } };
    readonly _cipher: { encrypt(packet: Buffer): void };
  };
};

const ignore = 2;

/** An SSH server that takes no connection without compression, and compresses what it likes. */
const compressingServer = async (
  onExec: (channel: ServerChannel, client: ssh2.Connection) => void,
): Promise<{ port: number; close: () => void }> => {
  const key = newKey();
  const server = new ssh2.Server(
    { hostKeys: [key.private], algorithms: { compress: ['zlib@openssh.com'] } },
    client => {
      client.on('error', () => undefined);
      client.on('authentication', context => context.accept());
      client.on('session', accept =>
        accept().on('exec', acceptExec => onExec(acceptExec(), client)),
      );
    },
  );
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  writeFileSync(join(dir, 'known_hosts'), `[127.0.0.1]:${port} ${key.public}\n`);
  return { port, close: () => server.close() };
};

const connectTo = async (
  port: number,
  ssh_options: string[],
  sshConfig: string | false = false,
): Promise<Connection> => {
  const transport = openTransport({
    sshConfig,
    env: { PATH: process.env.PATH, HOME: dir },
    knownHostsFiles: [join(dir, 'known_hosts')],
  });
  return await transport.connect(aHost({ port, passwd: new Secret('x'), ssh_options }));
};

/** Prints a word, and ends. */
const greeter = (channel: ServerChannel): void => {
  channel.write('hello');
  channel.exit(0);
  channel.end();
};

const greeting = async (connecting: Promise<Connection>): Promise<string> => {
  const connection = await connecting;
  const channel = await connection.exec('echo');
  const said: Buffer[] = [];
  channel.stdout.on('data', (chunk: Buffer) => said.push(chunk));
  await channel.exited;
  connection.close();
  return Buffer.concat(said).toString();
};

test('a host that offers compression only is refused, unless an option allows it', async () => {
  const server = await compressingServer(greeter);
  try {
    const refused = await fault(connectTo(server.port, []));
    expect(refused.message).toContain('compressed packets only');
    expect(await greeting(connectTo(server.port, ['Compression=yes']))).toBe('hello');
  } finally {
    server.close();
  }
});

test.skipIf(!existsSync('/usr/bin/ssh'))(
  'Compression of the ssh configuration counts, unless the roster says no',
  async () => {
    const server = await compressingServer(greeter);
    const config = join(dir, 'config');
    writeFileSync(config, 'Host *\n  Compression yes\n');
    try {
      expect(await greeting(connectTo(server.port, [], config))).toBe('hello');
      const refused = await fault(connectTo(server.port, ['Compression=no'], config));
      expect(refused.message).toContain('compressed packets only');
    } finally {
      server.close();
    }
  },
);

test('a compressed packet that would become long ends the connection before it does', async () => {
  const size = 25 * 1024 * 1024;
  const server = await compressingServer((_channel, client) => {
    const { _packetRW, _cipher } = (client as unknown as Writer)._protocol;
    const packet = _packetRW.write.alloc(size);
    packet.fill(0);
    packet[0] = ignore;
    _cipher.encrypt(_packetRW.write.finalize(packet));
  });
  try {
    const connection = await connectTo(server.port, ['Compression=yes']);
    const channel = await connection.exec('echo');
    await channel.exited;
    expect(connection.lost()?.cause).toMatchObject({
      message: 'Output length exceeded maximum of 262144',
    });
    connection.close();
  } finally {
    server.close();
  }
});
