import { chmodSync, closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Secret } from '../../../src/protocol/host.ts';
import { SecretStore } from '../../../src/roster/secrets.ts';
import { folder, load } from '../../roster/helper.ts';

const store = (env = {}, asked: string[] = []) =>
  new SecretStore({
    env,
    sdb: async uri => uri,
    ask: async ({ prompt }) => {
      asked.push(prompt);
      return new Secret('typed');
    },
  });

const rosterOf = async (dir: string, defaults = new Map()) =>
  (await load([{ backend: 'flat', source: join(dir, 'roster') }], defaults)).hosts;

test('secrets come from the environment, a private file or a command', async () => {
  const dir = folder({
    roster:
      'a: {passwd: {env: PW}}\nb: {passwd: {file: secret}}\nc: {passwd: {command: [./tell, x]}}\n',
    secret: 'from file\n',
    tell: '#!/bin/sh\necho "from command $1"\n',
  });
  chmodSync(join(dir, 'secret'), 0o600);
  chmodSync(join(dir, 'tell'), 0o755);
  const from = store({ PW: 'from env' });
  const values = [];
  for (const { host, secrets } of await rosterOf(dir))
    values.push((await from.fill(host, secrets)).passwd?.reveal());
  expect(values).toEqual(['from env', 'from file', 'from command x']);
});

test('a file descriptor is read once, however many hosts name it', async () => {
  const dir = folder({ roster: 'a: x\nb: {host: y, passwd: {fd: 999}}\n', secret: 'from 3\n' });
  const number = openSync(join(dir, 'secret'), 'r');
  onTestFinished(() => closeSync(number));
  const from = store();
  const named = () => new Map([['fd', number]]);
  const defaults = new Map([
    ['passwd', named()],
    ['sudo_passwd', named()],
  ] as never);
  const [a, b] = await rosterOf(dir, defaults);
  if (!a || !b) throw new Error('the roster has two hosts');
  const { passwd, sudo_passwd } = await from.fill(a.host, a.secrets);
  expect([passwd, sudo_passwd].map(secret => secret?.reveal())).toEqual(['from 3', 'from 3']);
  await expect(from.fill(b.host, b.secrets)).rejects.toThrow(
    'The file descriptor 999 cannot be read: EBADF',
  );
});

test('a secret in the defaults is asked for once', async () => {
  const dir = folder({ roster: 'a: x\nb: y\n' });
  const asked: string[] = [];
  const from = store({}, asked);
  const defaults = new Map([
    ['user', 'me'],
    ['passwd', new Map([['prompt', true]])],
  ] as never);
  const filled = await Promise.all(
    (await rosterOf(dir, defaults)).map(({ host, secrets }) => from.fill(host, secrets)),
  );
  expect(filled.map(({ passwd }) => passwd?.reveal())).toEqual(['typed', 'typed']);
  expect(asked).toEqual(['Password for me@x: ']);
});

test('only hosts that run have their secrets fetched', async () => {
  const dir = folder({ roster: 'a: {passwd: {command: [touch, ran]}}\nb: y\n' });
  const hosts = await rosterOf(dir);
  await store().fill(hosts[1]!.host, hosts[1]!.secrets);
  expect(() => readFileSync(join(dir, 'ran'))).toThrow('ENOENT');
});

test.each([
  ['{env: NOT_SET}', 'The environment variable NOT_SET is not set.'],
  ['{file: nowhere}', /^The secret file .*nowhere cannot be read: ENOENT/],
  ['{file: open}', /^Others may read the secret file .*open\.$/],
  ['{command: ["false"]}', "The secret command 'false' failed (1)."],
  ['{command: text}', 'A secret command is a list: [PROGRAM, ARGUMENT, …].'],
])('%s fails with its place', async (source, message) => {
  const dir = folder({ roster: `a:\n  passwd: ${source}\n`, open: 'x' });
  const [entry] = await rosterOf(dir);
  await expect(store().fill(entry!.host, entry!.secrets)).rejects.toMatchObject({
    message: typeof message === 'string' ? message : expect.stringMatching(message),
    at: { line: 2 },
  });
});
