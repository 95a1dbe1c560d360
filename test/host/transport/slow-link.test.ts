// @module-tag slow
import { writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Host } from '../../../src/protocol/host.ts';
import { openRuntime } from '../../../src/transport/bootstrap.ts';
import { openTransport } from '../../../src/transport/open-transport.ts';
import { runRaw } from '../../../src/transport/raw-shell.ts';
import type { Connection } from '../../../src/transport/transport.ts';
import { startTestHost, type TestHost } from '../../helpers/hosts.ts';
import { tinyArtifact } from '../../helpers/tiny-artifact.ts';

/** Bytes in a twentieth of a second: the link has 40,000 a second, each way. */
const atOnce = 2000;

/** Passes on what comes, byte after byte, at that speed. */
const trickle = (from: Socket, to: Socket): void => {
  let waiting = Buffer.alloc(0);
  const timer = setInterval(() => {
    if (waiting.length > 0) to.write(waiting.subarray(0, atOnce));
    waiting = waiting.subarray(atOnce);
  }, 50);
  from.on('data', chunk => {
    waiting = Buffer.concat([waiting, chunk]);
  });
  from.on('error', () => undefined);
  from.on('close', () => {
    clearInterval(timer);
    to.destroy();
  });
};

let target: TestHost;
let link: Server;
let host: Host;
let known: string;
let artifact: Awaited<ReturnType<typeof tinyArtifact>>;

beforeAll(async () => {
  artifact = await tinyArtifact();
  target = await startTestHost();
  link = createServer(client => {
    const server = connect({ port: target.server.port, host: '127.0.0.1' });
    trickle(client, server);
    trickle(server, client);
  });
  await new Promise<void>(resolve => link.listen(0, '127.0.0.1', resolve));
  const { port } = link.address() as AddressInfo;
  known = join(target.dir, 'slow_hosts');
  writeFileSync(known, `[127.0.0.1]:${port} ${target.server.hostKey}\n`);
  host = { ...target.host, port };
});
afterAll(async () => {
  link?.close();
  await target?.close();
});

const connected = async (
  more: Partial<Host>,
  work: (connection: Connection) => Promise<void>,
): Promise<void> => {
  const transport = openTransport({ knownHostsFiles: [known], sshConfig: false, env: {} });
  const connection = await transport.connect({ ...host, ...more });
  try {
    await work(connection);
  } finally {
    connection.close();
    transport.close();
  }
};

const size = 200_000;

test('a slow link is alive as long as bytes arrive, though no keepalive is answered', async () => {
  const ssh_options = ['ServerAliveInterval=1', 'ServerAliveCountMax=1'];
  await connected({ ssh_options }, async connection => {
    const command = `head -c ${size} /dev/zero | tr '\\0' x; sleep 1`;
    const { retcode, stdout } = await runRaw({ connection, host, command });
    expect({ retcode, size: stdout.length }).toEqual({ retcode: 0, size });
  });
}, 60_000);

test('a runtime that is sent much over a slow link may answer late', async () => {
  await connected({}, async connection => {
    const timeouts = { heartbeat: 0.3 };
    const runtime = await openRuntime({
      connection,
      host,
      artifact,
      handlers: {},
      events: {},
      timeouts,
    });
    const text = 'x'.repeat(size);
    expect((await runtime.peer.request('echo', text)) === text).toBe(true);
    runtime.close();
  });
}, 60_000);
