import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import type { Request } from '../../../src/config/request.ts';
import {
  sendHostAway,
  sendRequest,
  withoutSecrets,
} from '../../../src/control/workers/sent-request.ts';
import { type Host, Secret } from '../../../src/protocol/host.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';

const host: Host = {
  id: 'web1',
  host: '192.0.2.1',
  user: 'root',
  port: 22,
  timeout: 30,
  minion_opts: {},
  grains: {},
};

test('data that only the control node may know is not sent', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'tsalt-sent-'));
  try {
    writeFileSync(
      join(dir, 'tsalt.yaml'),
      `pillar_roots: {base: [secret-1-pillar]}
ext_pillar: [{http_yaml: {url: 'https://secret-2.example'}}]
store: {driver: yaml, files: [secret-3.yaml]}
vault: {url: 'https://secret-4.example', auth: {method: token, token: secret-5}}
queue: redis://u:secret-6@127.0.0.1
ssh_passwd: secret-7
gpg_keydir: /secret-8
roster_defaults: {passwd: secret-9}
site: {color: blue}
`,
    );
    const config = await loadConfig({ cwd: dir, env: {} });
    const request = {
      target: '*',
      targetType: 'glob',
      delimiter: ':',
      fun: 'state.apply',
      args: [],
      kwargs: new Map(),
      config,
      env: { TOKEN: 'secret-10' },
      sdb: { isUsed: true },
      options: {},
    } as unknown as Request;
    const sent = JSON.stringify(withoutSecrets(sendRequest(request)));
    expect(sent.match(/secret-\d+/g)).toBeNull();
    expect(sent).toContain('blue');
    expect(JSON.stringify(sendRequest(request))).toContain('secret-5');
  } finally {
    removeFolder(dir);
  }
});

test('a host brings its private key and its passwords', () => {
  const dir = mkdtempSync(join(tmpdir(), 'tsalt-sent-'));
  try {
    const priv = join(dir, 'id');
    writeFileSync(priv, 'the key', { mode: 0o600 });
    const sent = sendHostAway({ ...host, priv, sudo_passwd: new Secret('word') });
    expect(sent).toMatchObject({ key: 'the key', secrets: { sudo_passwd: 'word' } });
    expect(sendHostAway({ ...host, priv: '/only/there' })).not.toHaveProperty('key');
  } finally {
    removeFolder(dir);
  }
});

test.each([
  { ssh_pre_flight: '/a/script' },
  { ssh_pre_hook: ['a', 'program'] },
  { transport: 'chroot' as const },
])('an entry with %j does not go to a worker', entry => {
  expect(() => sendHostAway({ ...host, ...entry })).toThrow(/does not work with via/);
});
