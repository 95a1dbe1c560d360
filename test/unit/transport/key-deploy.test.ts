import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { TsaltError } from '../../../src/protocol/error.ts';
import { Secret } from '../../../src/protocol/host.ts';
import { connectDeployingKey } from '../../../src/transport/key-deploy.ts';
import { openTransport } from '../../../src/transport/open-transport.ts';
import { newKey } from '../../helpers/embedded-server.ts';
import { startTestHost, type TestHost } from '../../helpers/hosts.ts';

const password = 'deploy-pass';

const deploy = async (subject: TestHost, asked: string[] = []) => {
  const transport = openTransport({ knownHostsFiles: [subject.knownHosts], sshConfig: false });
  return await connectDeployingKey({
    transport,
    host: subject.host,
    env: { HOME: subject.dir },
    ask: async ({ prompt }) => {
      asked.push(prompt);
      return new Secret(password);
    },
  });
};

test('a key that is refused is deployed by password, once, and then logs in', async () => {
  const subject = await startTestHost({ keys: [], password });
  try {
    mkdirSync(join(subject.home, '.ssh'));
    const other = newKey().public;
    const file = join(subject.home, '.ssh/authorized_keys');
    // Without an end of line, as some editors leave it.
    writeFileSync(file, other, { mode: 0o600 });
    const asked: string[] = [];
    (await deploy(subject, asked)).close();
    expect(asked).toEqual(['Password of tester@web1, to deploy the key: ']);
    const lines = readFileSync(file, 'utf8').split('\n');
    expect([lines[0], lines[1]?.split(' ')[0], lines[2]]).toEqual([other, 'ssh-ed25519', '']);
    expect(statSync(file).mode & 0o777).toBe(0o600);

    const logins = subject.server.counts.logins.length;
    (await deploy(subject, asked)).close();
    expect(asked).toHaveLength(1);
    expect(subject.server.counts.logins.slice(logins)).not.toContain('password');
    expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(3);
  } finally {
    await subject.close();
  }
});

test('a host whose key is not the known one gets neither password nor key', async () => {
  const subject = await startTestHost({ keys: [], password });
  try {
    writeFileSync(subject.knownHosts, `[127.0.0.1]:${subject.server.port} ${newKey().public}\n`);
    const asked: string[] = [];
    const error = await deploy(subject, asked).catch((fault: unknown) => fault);
    expect(error).toBeInstanceOf(TsaltError);
    expect((error as TsaltError).code).toBe('host-key-changed');
    expect(asked).toEqual([]);
    expect(subject.server.counts.logins).toEqual([]);
  } finally {
    await subject.close();
  }
});
