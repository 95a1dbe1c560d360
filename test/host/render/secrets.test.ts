import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { armor, Encrypter, generateIdentity, identityToRecipient } from 'age-encryption';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { decryptAll } from '../../../src/render/secrets.ts';
import { site } from '../../render/site.ts';

const folder = mkdtempSync(join(tmpdir(), 'tsalt-keys-'));
afterAll(() => rmSync(folder, { recursive: true }));

const block = (text: string): string =>
  text
    .trim()
    .split('\n')
    .map(line => `  ${line}`)
    .join('\n');

const age = async (text: string, identity: string): Promise<string> => {
  const encrypter = new Encrypter();
  encrypter.addRecipient(await identityToRecipient(identity));
  return armor.encode(await encrypter.encrypt(text));
};

test('age decrypts marked values anywhere, in data and in text', async () => {
  const identity = await generateIdentity();
  const file = join(folder, 'age.key');
  writeFileSync(file, `# mine\n${identity}\n`);
  const secret = await age('s3cret: #1', identity);
  const { data } = site({ opts: { age_identity_file: file } });
  const text = `a: |\n${block(secret)}\nb:\n  - c: ${JSON.stringify(`x ${secret.trim()} y`)}\nd: 1\n`;
  expect(await data(text, { pipe: 'yaml|age' })).toEqual({
    a: 's3cret: #1',
    b: [{ c: 'x s3cret: #1 y' }],
    d: 1,
  });
  expect(
    await data(`a: |\n${block(await age('plain', identity))}\n`, { pipe: 'age|yaml' }),
  ).toEqual({ a: 'plain\n'.trim() });
});

test('age says what is missing and shows no secret', async () => {
  const [mine, other] = [await generateIdentity(), await generateIdentity()];
  const file = join(folder, 'other.key');
  writeFileSync(file, other);
  const text = `#!yaml|age\na: |\n${block(await age('s3cret', mine))}\n`;
  const denied = await site({ opts: { age_identity_file: file } }).failure(text);
  expect(denied).toContain('age: ');
  expect(denied).not.toContain('s3cret');
  expect(denied).not.toContain('AGE-SECRET-KEY');
  expect(await site({ opts: { age_identity_file: join(folder, 'none') } }).failure(text)).toContain(
    'the identity file cannot be read',
  );
});

const hasGpg = (() => {
  try {
    execFileSync('gpg', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

/** Puts a program into PATH that counts how often the real one is started. */
const countStarts = (program: string): (() => number) => {
  const bin = mkdtempSync(join(folder, 'bin-'));
  const log = join(bin, 'log');
  const real = execFileSync('/bin/sh', ['-c', `command -v ${program}`], { encoding: 'utf8' });
  writeFileSync(
    join(bin, program),
    `#!/bin/sh\necho started >> '${log}'\nexec '${real.trim()}' "$@"\n`,
    { mode: 0o755 },
  );
  writeFileSync(log, '');
  const path = process.env.PATH;
  process.env.PATH = `${bin}:${path}`;
  onTestFinished(() => {
    process.env.PATH = path;
  });
  return () => readFileSync(log, 'utf8').split('\n').length - 1;
};

test.skipIf(!hasGpg)(
  'gpg (needs gpg) decrypts marked values with the keys of gpg_keydir, each message once',
  { tags: 'slow' },
  async () => {
    const home = mkdtempSync(join(folder, 'gpg-'));
    const gpg = (args: string[], input = ''): string =>
      execFileSync(
        'gpg',
        [
          '--homedir',
          home,
          '--batch',
          '--quiet',
          '--pinentry-mode',
          'loopback',
          '--passphrase',
          '',
          ...args,
        ],
        { input, encoding: 'utf8', stdio: ['pipe', 'pipe', 'ignore'] },
      );
    gpg(['--quick-generate-key', 'test@example.com', 'default', 'default', 'never']);
    const secret = gpg(
      ['--armor', '--trust-model', 'always', '--encrypt', '-r', 'test@example.com'],
      's3cret',
    );
    const { data, failure } = site({ opts: { gpg_keydir: home } });
    const starts = countStarts('gpg');
    const hosts = ['web1', 'web2', 'web3'].map(id =>
      data(`#!yaml|gpg\na: |\n${block(secret)}\nb: [${id}]\n`),
    );
    expect(await Promise.all(hosts)).toEqual(
      ['web1', 'web2', 'web3'].map(id => ({ a: 's3cret', b: [id] })),
    );
    expect(starts()).toBe(1);
    const broken = secret.replace(/\n([A-Za-z0-9+/]{20})/, '\n$1AAAA');
    expect(await failure(`#!yaml|gpg\na: |\n${block(broken)}\n`)).toContain('gpg: ');
    execFileSync('gpgconf', ['--homedir', home, '--kill', 'all'], { stdio: 'ignore' });
  },
);

test('without gpg_decrypt_must_succeed a value that cannot be decrypted stays', async () => {
  const message = '-----BEGIN PGP MESSAGE-----\n\nxxxx\n-----END PGP MESSAGE-----';
  const { data } = site({ opts: { gpg_keydir: folder, gpg_decrypt_must_succeed: false } });
  expect(await data(`#!yaml|gpg\na: ${JSON.stringify(message)}\n`)).toEqual({ a: message });
});

test('a cipher of which the host said the lines, or parts of them, is not decrypted for it', async () => {
  const marked = 'X';
  const lines = Array.from({ length: 8 }, () => randomBytes(48).toString('base64'));
  const written = `-----BEGIN X-----\n${lines.join('\n')}\n-----END X-----`;
  const opened = async (text: string, heard: readonly string[]) =>
    decryptAll(
      text,
      marked,
      async () => 'secret',
      piece => heard.join('\n').includes(piece),
    );
  expect(await opened(written, ['Debian', 'web1'])).toBe('secret');
  expect(await opened(written, lines)).toBe(written);
  const halves = lines.flatMap(line => [line.slice(0, 29), line.slice(29)]);
  expect(await opened(written, halves)).toBe(written);
  const oneLine = `-----BEGIN X-----\n\n${lines.join('')}-----END X-----`;
  expect(await opened(oneLine, lines)).toBe(oneLine);
});
