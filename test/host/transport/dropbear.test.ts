import { execFileSync } from 'node:child_process';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openRuntime } from '../../../src/transport/bootstrap.ts';
import { isLocalTarget, nodeSource } from '../../../src/transport/node-source.ts';
import { openTransport } from '../../../src/transport/open-transport.ts';
import { dropbearMissing, startDropbear } from '../../helpers/dropbear.ts';
import { aHost, scratch } from '../../helpers/hosts.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';
import { tinyArtifact } from '../../helpers/tiny-artifact.ts';

// The whole contract over dropbear is in contract.test.ts.
const nodes = ['/usr/bin/node', '/usr/bin/nodejs', '/usr/local/bin/node'].filter(existsSync);
const target = `linux-${process.arch}` as 'linux-x64' | 'linux-arm64';
const missing = dropbearMissing ?? (isLocalTarget(target) ? undefined : 'needs an official Node');
const { path: dir, remove } = scratch('tsalt-dropbear');
afterAll(remove);

describe.skipIf(missing)(`dropbear${missing ? ` (${missing})` : ''}`, () => {
  test('a host without Node gets it, 40 MB over one connection, whatever just ended there', {
    tags: 'slow',
    timeout: 240_000,
  }, async () => {
    const server = await startDropbear(dir, nodes);
    const knownHosts = join(dir, 'known_hosts');
    writeFileSync(knownHosts, `[127.0.0.1]:${server.port} ${server.hostKey}\n`);
    const host = aHost({ user: server.user, port: server.port, priv: server.key });
    const transport = openTransport({ knownHostsFiles: [knownHosts], sshConfig: false, env: {} });
    const source = nodeSource({ cacheDir: join(dir, 'cache') });
    for (const _ of [1, 2, 3]) {
      removeFolder(join(server.home, '.cache'));
      const connection = await transport.connect(host);
      const link = await openRuntime({
        connection,
        host,
        artifact: await tinyArtifact(),
        nodeSource: source,
        handlers: {},
        events: {},
      });
      expect({ node: link.node, cached: link.cached }).toEqual({
        node: process.version,
        cached: false,
      });
      link.close();
      connection.close();
      const found = execFileSync('find', ['.cache', '-name', 'node-*'], {
        cwd: server.home,
        encoding: 'utf8',
      }).trim();
      expect(found).toMatch(/^\.cache\/tsalt-ssh\/node-[0-9a-f]{64}$/);
      expect(statSync(join(server.home, found)).mode & 0o777).toBe(0o700);
    }
    transport.close();
    await server.close();
  });
});
