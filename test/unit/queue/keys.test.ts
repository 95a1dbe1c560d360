import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { redisAddress } from '../../../src/queue/connect.ts';
import { openKeys, parseKey, publicKeyText, type QueueKeys } from '../../../src/queue/keys.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';

let dir: string;
let control: QueueKeys;
let worker: QueueKeys;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'tsalt-keys-'));
  [control, worker] = (await Promise.all(
    ['control', 'worker'].map(name => openKeys(join(dir, name))),
  )) as [QueueKeys, QueueKeys];
});
afterAll(() => removeFolder(dir));

test('keys are made once, in a private file', async () => {
  expect((await openKeys(join(dir, 'control'))).publicKey).toEqual(control.publicKey);
  const path = join(dir, 'control/queue-keys.json');
  expect([statSync(join(dir, 'control')).mode & 0o777, statSync(path).mode & 0o777]).toEqual([
    0o700, 0o600,
  ]);
  expect(control.publicKey).not.toEqual(worker.publicKey);
});

test('a file of keys that is broken is an error that quotes nothing of it', async () => {
  await openKeys(join(dir, 'broken'));
  const path = join(dir, 'broken/queue-keys.json');
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.slice(0, -20));
  await expect(openKeys(join(dir, 'broken'))).rejects.toMatchObject({
    code: 'queue-keys',
    message: expect.not.stringContaining('AGE-SECRET'),
  });
});

test('a public key is written and read', () => {
  expect(parseKey(publicKeyText(control.publicKey), 'x')).toEqual(control.publicKey);
  for (const text of [
    '',
    'age1x:y',
    `${publicKeyText(control.publicKey)}x`,
    control.publicKey.recipient,
  ])
    expect(() => parseKey(text, 'workers: dmz')).toThrow(/^workers: dmz: /);
});

test.each([
  ['redis://h', { host: 'h', port: 6379 }],
  ['redis://h:1/3', { host: 'h', port: 1, db: 3 }],
  ['rediss://u:p%40@[::1]:7', { host: '::1', port: 7, username: 'u', password: 'p@', tls: {} }],
  ['env:Q', { host: 'from-env', port: 6379 }],
])('the address %s', (text, expected) => {
  expect(redisAddress(text, { Q: 'redis://from-env' }, false)).toEqual({
    ...expected,
    maxRetriesPerRequest: null,
  });
});

test.each([
  ['http://h', 'redis://HOST:PORT'],
  ['', 'redis://HOST:PORT'],
  ['env:NOT', 'NOT is not set'],
  ['file:/no/such', 'cannot be read'],
  ['redis://u:word@h', 'command line'],
])('the address %j is refused', (text, message) => {
  expect(() => redisAddress(text, {}, true)).toThrow(message);
});
