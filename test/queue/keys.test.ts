import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Decrypter, Encrypter } from 'age-encryption';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { redisAddress } from '../../src/queue/connect.ts';
import {
  openKeys,
  type PublicKey,
  parseKey,
  publicKeyText,
  type QueueKeys,
  workerId,
} from '../../src/queue/keys.ts';
import { JobOpener, JobSealer, type QueueJob } from '../../src/queue/sealed-job.ts';
import { removeFolder } from '../helpers/remove-folder.ts';

const sealJob = (given: Omit<QueueJob, 'worker'>, keys: QueueKeys, to: PublicKey) =>
  new JobSealer(keys).seal(given, to);
const openJob = (sealed: string, keys: QueueKeys, controls: readonly PublicKey[]) =>
  new JobOpener(keys, controls).open(sealed);

let dir: string;
let control: QueueKeys;
let worker: QueueKeys;
let other: QueueKeys;

const job: Omit<QueueJob, 'worker'> = {
  version: '1.0.0',
  jid: '20260101000000000000',
  number: 3,
  segment: 'dmz',
  runKey: Buffer.alloc(32, 7).toString('base64'),
  expires: Date.now() + 60_000,
};

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'tsalt-keys-'));
  [control, worker, other] = (await Promise.all(
    ['control', 'worker', 'other'].map(name => openKeys(join(dir, name))),
  )) as [QueueKeys, QueueKeys, QueueKeys];
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

test('a job is opened by the worker that it is for, and only if a known control node signed it', async () => {
  const sealed = await sealJob(job, control, worker.publicKey);
  expect(await openJob(sealed, worker, [other.publicKey, control.publicKey])).toEqual({
    ...job,
    worker: workerId(worker.publicKey),
  });
  await expect(openJob(sealed, other, [control.publicKey])).rejects.toThrow();
  await expect(openJob(sealed, worker, [other.publicKey])).rejects.toThrow(/has signed it/);
  await expect(openJob(sealed, worker, [])).rejects.toThrow(/has signed it/);
});

test('a worker cannot pass a job on to another one, whose messages it could then read', async () => {
  const sealed = await sealJob(job, control, worker.publicKey);
  const decrypter = new Decrypter();
  decrypter.addIdentity(worker.identity);
  const encrypter = new Encrypter();
  encrypter.addRecipient(other.publicKey.recipient);
  const [ticket = '', number] = sealed.split('.');
  const opened = await decrypter.decrypt(Buffer.from(ticket, 'base64'));
  const passedOn = Buffer.from(await encrypter.encrypt(opened)).toString('base64');
  await expect(openJob(`${passedOn}.${number}`, other, [control.publicKey])).rejects.toThrow(
    'it is for another worker',
  );
});

test('jobs of a run are signed and encrypted to a worker once; each has its own number', async () => {
  const sealer = new JobSealer(control);
  const opener = new JobOpener(worker, [control.publicKey]);
  const sealed = await Promise.all(
    [1, 2, 3].map(number => sealer.seal({ ...job, number }, worker.publicKey)),
  );
  expect(new Set(sealed.map(text => text.split('.')[0])).size).toBe(1);
  for (const [at, text] of sealed.entries())
    expect(await opener.open(text)).toMatchObject({
      number: at + 1,
      worker: workerId(worker.publicKey),
    });
  const [first = '', second = ''] = sealed.map(text => text.split('.')[1]);
  expect(first).not.toBe(second);

  // A run of many hours makes another ticket before the first one expires.
  const later = { ...job, expires: job.expires + 13 * 3600_000 };
  const renewed = await sealer.seal(later, worker.publicKey);
  expect(renewed.split('.')[0]).not.toBe(sealed[0]?.split('.')[0]);
  expect(await opener.open(renewed)).toMatchObject({ expires: later.expires });
});

test('the number of a job cannot be changed, nor taken from a job of another worker or run', async () => {
  const seal = (given: Omit<QueueJob, 'worker'>, to: PublicKey) => sealJob(given, control, to);
  const opener = new JobOpener(worker, [control.publicKey]);
  const own = await seal(job, worker.publicKey);
  expect(await opener.open(own)).toMatchObject({ number: 3 });
  const [ticket = '', number = ''] = own.split('.');
  const changed = Buffer.from(number, 'base64');
  changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
  const others = [
    await seal(job, other.publicKey),
    await seal({ ...job, jid: '20260101000000000001' }, worker.publicKey),
    await seal({ ...job, runKey: Buffer.alloc(32, 8).toString('base64') }, worker.publicKey),
  ].map(text => text.split('.')[1] ?? '');
  for (const wrong of [...others, changed.toString('base64'), ''])
    await expect(opener.open(`${ticket}.${wrong}`)).rejects.toThrow();
});

test('a job that has expired is refused', async () => {
  const sealed = await sealJob({ ...job, expires: Date.now() - 1 }, control, worker.publicKey);
  await expect(openJob(sealed, worker, [control.publicKey])).rejects.toThrow(/expired/);
  // Also by a worker that has opened a job with the same ticket in time.
  const opener = new JobOpener(worker, [control.publicKey]);
  const short = await sealJob({ ...job, expires: Date.now() + 60_000 }, control, worker.publicKey);
  await opener.open(short);
  vi.useFakeTimers({ now: Date.now() + 61_000, toFake: ['Date'] });
  await expect(opener.open(short)).rejects.toThrow(/expired/);
  vi.useRealTimers();
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
