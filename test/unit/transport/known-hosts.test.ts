import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  addKnownHost,
  checkHostKey,
  knownKeyTypes,
  parseKnownHosts,
} from '../../../src/transport/known-hosts.ts';
import { newKey } from '../../helpers/embedded-server.ts';
import { scratch } from '../../helpers/hosts.ts';

const first = newKey();
const second = newKey();
const blob = (key: { public: string }): Buffer =>
  Buffer.from(key.public.split(' ')[1] ?? '', 'base64');
const verdict = (text: string, host = 'web1', port = 22): string =>
  checkHostKey(parseKnownHosts(text, 'known_hosts'), { host, port }, blob(first)).verdict;

test.each([
  ['known', `web1 ${first.public}`, 'web1', 22],
  ['known', `WEB1 ${first.public}`, 'Web1', 22],
  ['unknown', `web2 ${first.public}`, 'web1', 22],
  ['changed', `web1 ${second.public}`, 'web1', 22],
  ['known', `web1 ${second.public}\nweb1 ${first.public}`, 'web1', 22],
  ['known', `web*,!web2 ${first.public}`, 'web1', 22],
  ['unknown', `web*,!web1 ${first.public}`, 'web1', 22],
  ['unknown', `!web1,web* ${first.public}`, 'web1', 22],
  ['known', `[web1]:2222 ${first.public}`, 'web1', 2222],
  ['known', `web1 ${first.public}`, 'web1', 2222],
  ['unknown', `web1 ${second.public}`, 'web1', 2222],
  ['unknown', `[web1]:2222 ${first.public}`, 'web1', 22],
  ['revoked', `web1 ${first.public}\n@revoked * ${first.public}`, 'web1', 22],
  ['unknown', `@cert-authority * ${first.public}`, 'web1', 22],
  ['unknown', `# web1 ${first.public}`, 'web1', 22],
  ['unknown', `web1 ssh-rsa ${first.public.split(' ')[1]}`, 'web1', 22],
])('%s: %s', (wanted, text, host, port) => {
  expect(verdict(text as string, host as string, port as number)).toBe(wanted);
});

test('types known for a host come in the order of their lines', () => {
  const rsa = newKey('rsa');
  const entries = parseKnownHosts(`web1 ${rsa.public}\nweb1 ${first.public}`, 'known_hosts');
  expect(knownKeyTypes(entries, { host: 'web1', port: 22 })).toEqual(['ssh-rsa', 'ssh-ed25519']);
});

test('a new key is one line at the end of a private file, even after a line without an end', () => {
  const { path, remove } = scratch();
  const file = join(path, 'ssh/known_hosts');
  addKnownHost(file, { host: 'web1', port: 2222 }, blob(first));
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(join(path, 'ssh')).mode & 0o777).toBe(0o700);
  writeFileSync(file, `web9 ${second.public}`);
  addKnownHost(file, { host: 'web1', port: 22 }, blob(first));
  expect(readFileSync(file, 'utf8')).toBe(`web9 ${second.public}\nweb1 ${first.public}\n`);
  remove();
});
