// @module-tag slow
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import { nothing } from '../../helpers/nothing.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';
import { notedPrograms } from '../../modules/_programs.ts';
import { makeHost, type TestHost } from '../../states/runner.ts';

// A socket of gpg's agent has a path of 107 bytes at most.
const folder = mkdtempSync('/tmp/tg-');
const home = join(folder, 'home');
const far = join(folder, 'far');
let host: TestHost;
const programs = notedPrograms();
let keyid = '';
let fingerprint = '';

const has = which('gpg') !== undefined;
const real = test.skipIf(!has);
beforeAll(() => {
  mkdirSync(far, { mode: 0o700 });
  host = makeHost({ pillar: { gpg_passphrase: 'se cret' } });
});
afterAll(() => {
  for (const each of [home, far])
    spawnSync('gpgconf', ['--homedir', each, '--kill', 'all'], { timeout: 20_000 });
  host.remove();
  removeFolder(folder);
});

type Key = { keyid: string; fingerprint: string; uids: string[]; ownerTrust: string };

const create = (email: string, gnupghome: string, isProtected = false) =>
  host.call(
    'gpg.create_key',
    'RSA',
    2048,
    'Ann Ö: x',
    'note',
    email,
    'RSA',
    2048,
    '2y',
    isProtected,
    null,
    gnupghome,
  ) as Promise<{ res: boolean; fingerprint: string }>;
const keys = async (gnupghome = home) =>
  (await host.call('gpg.list_keys', null, gnupghome)) as Key[];

real(
  'a key is made, protected by the passphrase of the pillar, and listed',
  async () => {
    expect(await keys()).toEqual([]);
    const made = await create('ann@example.org', home, true);
    expect(made).toMatchObject({ res: true, message: 'GPG key pair successfully generated.' });
    ({ fingerprint } = made);
    expect(statSync(home).mode & 0o777).toBe(0o700);
    const [key] = await keys();
    expect(key).toMatchObject({
      fingerprint,
      keyid: fingerprint.slice(-16),
      uids: ['Ann Ö: x (note) <ann@example.org>'],
      keyLength: '2048',
      ownerTrust: 'Ultimately Trusted',
      created: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      expires: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
    });
    keyid = key?.keyid ?? '';
    expect(await host.call('gpg.get_key', keyid.slice(8), null, null, home)).toEqual(key);
    expect(await host.call('gpg.get_secret_key', null, fingerprint, null, home)).toMatchObject({
      keyid,
    });
    expect(await host.call('gpg.get_key', 'nothing', null, null, home)).toBe(false);
  },
  240_000,
);

real('a passphrase that the pillar does not have is told', async () => {
  const poor = makeHost();
  expect(
    await poor.call(
      'gpg.create_key',
      'RSA',
      2048,
      'x',
      'y',
      null,
      null,
      null,
      null,
      true,
      null,
      home,
    ),
  ).toMatchObject({ res: false, message: 'gpg_passphrase not available in pillar.' });
  await expect(poor.call('gpg.sign', null, null, 'x', null, null, true, home)).rejects.toThrow(
    'gpg_passphrase not available in pillar.',
  );
  poor.remove();
});

real(
  'what is encrypted is decrypted again, any bytes of it',
  async () => {
    const bytes = Buffer.from([0, 255, 254, 10, 13, 128]);
    writeFileSync(join(folder, 'plain'), bytes);
    const [plain, secret, back] = ['plain', 'secret', 'back'].map(name => join(folder, name));
    const encrypt = (...more: unknown[]) =>
      host.call('gpg.encrypt', null, ['ann@example.org'], ...more) as Promise<
        Record<string, string>
      >;
    expect(await encrypt(null, plain, secret, true, true, false, home)).toEqual({
      res: true,
      comment: `Encrypted data has been written to ${secret}`,
    });
    expect(readFileSync(secret!, 'latin1')).toMatch(/^-----BEGIN PGP MESSAGE-----/);
    expect(await host.call('gpg.decrypt', null, null, secret, back, true, home)).toEqual({
      res: true,
      comment: `Decrypted data has been written to ${back}`,
    });
    expect(readFileSync(back!)).toEqual(bytes);
    expect(statSync(back!).mode & 0o777).toBe(0o600);
    const { comment } = await encrypt('hello ö', null, null, null, false, false, home);
    expect(await host.call('gpg.decrypt', null, comment, null, null, true, home, true)).toBe(
      'hello ö',
    );
    expect(await host.call('gpg.decrypt', null, 'odd', null, null, true, home)).toMatchObject({
      res: false,
      comment: expect.stringContaining('no data was provided'),
    });
    expect(
      await host.call('gpg.encrypt', null, 'nobody', 'x', null, null, null, false, true, home),
    ).toMatchObject({ res: false, comment: expect.stringContaining('invalid recipient') });
  },
  240_000,
);

real(
  'what is signed is verified, and what was changed is not',
  async () => {
    const signed = await host.call('gpg.sign', null, keyid, 'hello', null, null, true, home);
    expect(await host.call('gpg.verify', signed, null, null, home)).toEqual({
      res: true,
      username: 'Ann Ö: x (note) <ann@example.org>',
      key_id: expect.stringMatching(/^[0-9A-F]{16}$/), // of the subkey
      trust_level: 'Ultimate',
      message: 'The signature is verified.',
    });
    const forged = String(signed).replace('hello', 'hallo');
    const unverified = { res: false, message: 'The signature could not be verified.' };
    expect(await host.call('gpg.verify', forged, null, null, home)).toEqual(unverified);
    const [data, signature] = ['data', 'data.sig'].map(name => join(folder, name)) as [
      string,
      string,
    ];
    writeFileSync(data, 'data');
    const gpg = [
      '--homedir',
      home,
      '--batch',
      '--pinentry-mode',
      'loopback',
      '--passphrase-fd',
      '0',
    ];
    spawnSync('gpg', [...gpg, '-o', signature, '-b', data], { input: 'se cret\n' });
    const verify = () => host.call('gpg.verify', null, null, data, home, signature, 'pgp');
    expect(await verify()).toMatchObject({ res: true, trust_level: 'Ultimate' });
    writeFileSync(data, 'date');
    expect(await verify()).toEqual(unverified);
    expect(await host.call('gpg.verify', 'x', null, null, home, null, 'odd')).toMatchObject({
      message: expect.stringContaining('Invalid trustmodel defined: odd.'),
    });
  },
  240_000,
);

real(
  'a key goes out and comes in once',
  async () => {
    const { fingerprint: other } = await create('far@example.org', far);
    const output = join(folder, 'key.asc');
    expect(await host.call('gpg.export_key', other, false, null, far, false, output)).toEqual({
      res: true,
      comment: `Exported key data has been written to ${output}`,
    });
    const take = () => host.call('gpg.import_key', null, output, null, home);
    expect(await take()).toEqual({ res: true, message: 'Successfully imported key(s).' });
    expect(await take()).toEqual({ res: true, message: 'Key(s) already exist in keychain.' });
    expect(await host.call('gpg.import_key', 'odd', null, null, home)).toEqual({
      res: false,
      message: 'Unable to import key.',
    });
    expect(await host.call('gpg.export_key', 'nobody', false, null, far)).toEqual({ res: false });
    expect(
      await host.call('gpg.export_key', fingerprint, true, null, home, true, null, true),
    ).toMatch(/^-----BEGIN PGP PRIVATE KEY BLOCK-----/);
    const trust = (level: string) => host.call('gpg.trust_key', null, other, level, null, home);
    expect(await trust('fully')).toEqual({
      res: true,
      message: 'Setting ownership trust to Fully Trusted.',
      fingerprint: other,
    });
    expect(await trust('not_trusted')).toMatchObject({
      message: 'Changing ownership trust from Fully Trusted to Not Trusted.',
    });
    expect(await trust('odd')).toContain('ERROR: Valid trust levels - expired,unknown');
  },
  240_000,
);

real(
  'states bring a key from a keyserver, trust it, and take it away, once each',
  async () => {
    const { fingerprint: wanted } = await create('server@example.org', far);
    const armored = await host.call('gpg.export_key', wanted, false, null, far, false, null, true);
    const server = createServer((request, response) => {
      const isKnown = request.url?.toUpperCase().includes(wanted.slice(-16));
      response.writeHead(isKnown ? 200 : 404, { 'content-type': 'application/pgp-keys' });
      response.end(isKnown ? armored : 'no');
    });
    await new Promise<void>(done => server.listen(0, '127.0.0.1', done));
    const keyserver = `hkp://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const id = wanted.slice(-16);
    const options = { gnupghome: home, keyserver, trust: 'fully' };
    try {
      const added = { [id]: { old: null, new: 'present' } };
      const before = await keys();
      expect(await host.test('gpg.present', id, options)).toMatchObject({
        result: null,
        changes: added,
      });
      expect(await keys()).toEqual(before);
      const trust = { old: 'Unknown', new: 'Fully Trusted' };
      expect(await host.state('gpg.present', id, options)).toEqual({
        name: id,
        result: true,
        changes: { [id]: { old: null, new: 'present', trust } },
        comment: `Adding ${id} to GPG keychain\nSet trust level for ${id} to fully`,
      });
      expect((await keys()).find(key => key.keyid === id)?.ownerTrust).toBe('Fully Trusted');
      expect(await host.state('gpg.present', id, options)).toEqual({
        name: id,
        result: true,
        changes: {},
        comment: `GPG Public Key ${id} already in correct trust state\nGPG Public Key ${id} already in keychain `,
      });
      expect(await host.state('gpg.present', 'ABCDEF0123456789', options)).toMatchObject({
        result: false,
        changes: nothing,
      });
      expect(await host.state('gpg.present', id, { ...options, trust: 'odd' })).toMatchObject({
        result: false,
      });
      const gone = { [id]: { old: 'present', new: null } };
      const place = { gnupghome: home };
      expect(await host.test('gpg.absent', id, place)).toMatchObject({
        result: null,
        changes: gone,
      });
      expect(await host.state('gpg.absent', id, place)).toMatchObject({
        result: true,
        changes: gone,
      });
      expect(await host.state('gpg.absent', id, place)).toEqual({
        name: id,
        result: true,
        changes: {},
        comment: `${id} not found in GPG keychain`,
      });
    } finally {
      server.close();
    }
  },
  240_000,
);

real(
  'a key with a secret one goes only when that is said',
  async () => {
    const drop = (secret: boolean) =>
      host.call('gpg.delete_key', keyid, null, secret, null, home) as Promise<{ message: string }>;
    expect(await drop(false)).toEqual({
      res: false,
      message: 'Secret key exists, delete first or pass delete_secret=True.',
    });
    expect(await host.state('gpg.absent', keyid, { gnupghome: home })).toMatchObject({
      result: false,
      changes: nothing,
    });
    expect(await drop(true)).toEqual({
      res: true,
      message: `Secret key for ${fingerprint} deleted\nPublic key for ${fingerprint} deleted`,
    });
    expect(await drop(true)).toEqual({ res: false, message: 'Key not available in keychain.' });
    expect(await host.call('gpg.list_secret_keys', null, home)).toEqual([]);
  },
  240_000,
);

real('a wrong account is named', async () => {
  await expect(host.call('gpg.list_keys', 'nobody-has-this')).rejects.toThrow(
    'User nobody-has-this does not exist',
  );
});

test("a link in gpg's folder is not read: it could lead anywhere", async () => {
  const secret = join(folder, 'shadow');
  writeFileSync(secret, 'root:hash');
  programs.program(
    'gpg',
    `while [ "$1" != --output ]; do shift; done; ln -s '${secret}' "$2"; echo '[GNUPG:] DECRYPTION_OKAY' >&2`,
  );
  const output = join(folder, 'taken');
  const taking = host.call('gpg.decrypt', null, null, secret, output, false, home);
  await expect(taking).rejects.toThrow();
  expect(existsSync(output)).toBe(false);
});
