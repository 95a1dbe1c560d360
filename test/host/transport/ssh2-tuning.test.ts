import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import ssh2, { type AuthMethod, type Client, type ParsedKey } from 'ssh2';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  fastSign,
  limitInflation,
  liveByBytes,
  nudge,
  pipelineAuth,
} from '../../../src/transport/ssh2/tuning.ts';
import { newKey } from '../../helpers/embedded-server.ts';
import { scratch, startTestHost, type TestHost } from '../../helpers/hosts.ts';
import { hasSshd, type Sshd, startSshd } from '../../helpers/sshd.ts';

// These tests fail when ssh2 moves what ssh2/tuning.ts touches. Then read its new source, mend
// that file, and pin the new version in package.json.

let target: TestHost;
let sshd: Sshd | undefined;
const { path: dir, remove } = scratch();
beforeAll(async () => {
  target = await startTestHost();
  if (hasSshd) sshd = await startSshd({ dir, hostKeyTypes: ['ed25519', 'rsa', 'ecdsa'] });
});
afterAll(async () => {
  await target.close();
  await sshd?.close();
  remove();
});

const login = (
  port: number,
  user: string,
  keyFile: string,
  tune: (client: Client) => void,
): Promise<{ client: Client; sent: string[] }> =>
  new Promise((resolve, reject) => {
    const client = new ssh2.Client();
    const sent: string[] = [];
    const sock = connect(port, '127.0.0.1');
    const write = sock.write.bind(sock) as (...args: unknown[]) => boolean;
    sock.write = (...args: unknown[]) => {
      sent.push('>bytes');
      return write(...args);
    };
    const key = ssh2.utils.parseKey(readFileSync(keyFile)) as ParsedKey;
    client.on('error', reject);
    client.on('ready', () => resolve({ client, sent }));
    client.connect({
      sock,
      username: user,
      hostVerifier: () => true,
      debug: text => {
        const packet = /^(Outbound|Inbound): (?:Sending |Received )?(\S+)/.exec(text);
        if (packet) sent.push(`${text.startsWith('Out') ? '>' : '<'}${packet[2]}`);
      },
      authHandler: [{ type: 'publickey', username: user, key: fastSign(key) } as AuthMethod],
    });
    tune(client);
  });

test('ssh2 is pinned to the version whose inside is known', () => {
  const { version } = createRequire(import.meta.url)('ssh2/package.json') as { version: string };
  // It is a part of the built program: nobody installs another one beside it.
  const { devDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    devDependencies: Record<string, string>;
  };
  expect(version).toBe('1.17.0');
  expect(devDependencies.ssh2).toBe('1.17.0');
});

test('all of them take hold', async () => {
  const held: boolean[] = [];
  const { client } = await login(target.server.port, 'tester', target.host.priv ?? '', made =>
    held.push(
      pipelineAuth(made),
      nudge(made),
      limitInflation(made),
      liveByBytes(made, new PassThrough()),
    ),
  );
  client.end();
  expect(held).toEqual([true, true, true, true]);
});

test('on a client without the inside they do nothing', () => {
  const none = {} as Client;
  const held = [pipelineAuth(none), nudge(none), limitInflation(none)];
  expect([...held, liveByBytes(none, new PassThrough())]).toEqual([false, false, false, false]);
  const half = { _protocol: { _handlers: {} } } as unknown as Client;
  expect([pipelineAuth(half), nudge(half)]).toEqual([false, false]);
});

test('the signed login leaves before the service is accepted', async () => {
  const { client, sent } = await login(target.server.port, 'tester', target.host.priv ?? '', made =>
    pipelineAuth(made),
  );
  client.end();
  const request = sent.indexOf('>USERAUTH_REQUEST');
  expect(sent.filter(packet => packet === '>USERAUTH_REQUEST')).toHaveLength(1);
  expect(sent.slice(0, request).findLast(packet => packet !== '>bytes')).toBe('>SERVICE_REQUEST');
  expect(sent.indexOf('<SERVICE_ACCEPT')).toBeGreaterThan(request);
});

// Without an answer sshd's next message, the end of the login, would wait for a delayed ACK.
test('the acceptance of the service is answered', async () => {
  const { client, sent } = await login(target.server.port, 'tester', target.host.priv ?? '', made =>
    pipelineAuth(made),
  );
  client.end();
  const accepted = sent.indexOf('<SERVICE_ACCEPT');
  expect(sent.slice(accepted + 1, sent.indexOf('<USERAUTH_SUCCESS'))).toContain('>bytes');
});

test.skipIf(!hasSshd)(
  'OpenSSH takes the signed login, and each answer to its host key list',
  async () => {
    if (!sshd) return;
    const { client, sent } = await login(sshd.port, sshd.user, sshd.key, made => {
      pipelineAuth(made);
      nudge(made);
    });
    const output = await new Promise<string>((resolve, reject) => {
      client.exec('echo there', (error, channel) => {
        if (error) return reject(error);
        let text = '';
        channel.on('data', (chunk: Buffer) => {
          text += chunk;
        });
        channel.on('close', () => resolve(text));
      });
    });
    client.end();
    expect(output).toBe('there\n');
    expect(sent).toContain('<GLOBAL_REQUEST');
    // ssh2's own proof request would be one more round trip.
    expect(sent).not.toContain('>GLOBAL_REQUEST');
    expect(sshd.log()).not.toMatch(/corrupted|Bad packet/);
  },
);

test.each(['ed25519', 'ecdsa', 'rsa'] as const)('a %s key signs as ssh2 itself does', type => {
  const text = newKey(type).private;
  const [plain, fast] = [
    ssh2.utils.parseKey(text),
    fastSign(ssh2.utils.parseKey(text) as ParsedKey),
  ] as ParsedKey[];
  const data = Buffer.from('data');
  for (const hash of type === 'rsa' ? ['sha256', 'sha512'] : [undefined])
    expect(plain?.verify(data, fast?.sign(data, hash) ?? Buffer.alloc(0), hash)).toBe(true);
});

test('without its native binding ssh2 works the same', () => {
  // Node refuses addons in this child, as on a machine where the binding could not be built.
  const script = `
    const { Server, Client, utils } = require('ssh2');
    const key = utils.generateKeyPairSync('ecdsa', { bits: 256 }).private;
    const server = new Server({ hostKeys: [key] }, client => {
      client.on('authentication', context => context.accept());
      client.on('session', accept => accept().on('exec', take => { const channel = take(); channel.pipe(channel); channel.exit(0); }));
      client.on('error', () => {});
    }).listen(0, '127.0.0.1', () => {
      const client = new Client();
      client.on('ready', () => client.exec('cat', (error, channel) => {
        let size = 0;
        channel.on('data', chunk => { size += chunk.length; if (size === 300000) { console.log('echo', size); process.exit(0); } });
        channel.write(Buffer.alloc(300000));
      }));
      client.connect({ host: '127.0.0.1', port: server.address().port, username: 'x', password: 'y', hostVerifier: () => true });
    });`;
  const output = execFileSync(process.execPath, ['--no-addons', '-e', script], {
    cwd: join(import.meta.dirname, '../../..'),
    timeout: 240_000,
    encoding: 'utf8',
  });
  expect(output).toBe('echo 300000\n');
});
