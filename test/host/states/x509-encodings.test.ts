import { execFileSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import { nothing } from '../../helpers/nothing.ts';
import { makeHost, type TestHost } from '../../states/runner.ts';

let host: TestHost;
const missing = which('openssl') === undefined ? ' (needs openssl)' : '';
const at = (path: string): string => `${host.root}/${path}`;

/** openssl judges what was made here, and makes what others make. */
const openssl = (...args: string[]): string =>
  execFileSync('openssl', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

const web = (more: Record<string, unknown> = {}) => ({
  signing_private_key: at('ca.key'),
  signing_cert: at('ca.crt'),
  private_key: at('web.key'),
  CN: 'www.example.com',
  days_valid: 365,
  append_certs: [at('ca.crt')],
  ...more,
});

/** For real, and once more without any change. */
const twice = async (fun: string, path: string, args: Record<string, unknown>) => {
  const rehearsed = await host.test(fun, at(path), args);
  expect(rehearsed.result, String(rehearsed.comment)).toBe(null);
  const done = await host.state(fun, at(path), args);
  expect(done.result, String(done.comment)).toBe(true);
  expect(Object.keys(done.changes)).toEqual(Object.keys(rehearsed.changes));
  const made = readFileSync(at(path));
  expect(await host.state(fun, at(path), args)).toMatchObject({ result: true, changes: nothing });
  expect(readFileSync(at(path)).equals(made)).toBe(true);
  return done.changes;
};

describe.skipIf(missing !== '')(`encodings of x509${missing}`, () => {
  beforeEach(async () => {
    host = makeHost();
    for (const name of ['ca', 'web'])
      await host.state('x509.private_key_managed', at(`${name}.key`), { algo: 'ec' });
    await host.state('x509.certificate_managed', at('ca.crt'), {
      signing_private_key: at('ca.key'),
      CN: 'Lab CA',
      basicConstraints: 'critical CA:true',
      days_valid: 3650,
    });
  });
  afterEach(() => host.remove());

  const subjectsOf = (pem: string): string[] =>
    [...pem.matchAll(/^subject=(.*)$/gm)].map(([, subject = '']) => subject.replaceAll(' ', ''));

  test.each([
    ['pkcs7_pem', 'PEM'],
    ['pkcs7_der', 'DER'],
  ])('a certificate and its chain as %s', async (encoding, form) => {
    await twice('x509.certificate_managed', 'web.p7b', web({ encoding }));
    const read = ['pkcs7', '-inform', form, '-in', at('web.p7b'), '-print_certs', '-noout'];
    expect(subjectsOf(openssl(...read))).toEqual(['CN=www.example.com', 'CN=LabCA']);
  });

  test('a certificate as der; a chain does not fit', async () => {
    const alone = web({ encoding: 'der', append_certs: [] });
    await twice('x509.certificate_managed', 'web.der', alone);
    const shown = openssl('x509', '-inform', 'DER', '-in', at('web.der'), '-noout', '-subject');
    expect(subjectsOf(shown)).toEqual(['CN=www.example.com']);
    const chained = await host.state(
      'x509.certificate_managed',
      at('b.der'),
      web({ encoding: 'der' }),
    );
    expect(chained).toMatchObject({
      result: false,
      comment: 'Cannot encode a certificate chain in DER',
    });
  });

  test.each([
    ['without a passphrase', {}, 'pass:'],
    ['with a passphrase', { pkcs12_passphrase: 'gehëim' }, 'pass:gehëim'],
    ['for old programs', { pkcs12_passphrase: 'old', pkcs12_encryption_compat: true }, 'pass:old'],
  ])('a certificate, its chain and its key as pkcs12: %s', async (_, protection, pass) => {
    const args = web({ encoding: 'pkcs12', pkcs12_friendlyname: 'Büro', ...protection });
    await twice('x509.certificate_managed', 'web.p12', args);
    expect(statSync(at('web.p12')).mode & 0o777).toBe(0o400);
    const options = pass === 'pass:' ? ['-nomacver'] : [];
    const read = ['pkcs12', '-in', at('web.p12'), '-passin', pass, '-nodes', ...options];
    const text = openssl(...read);
    expect(subjectsOf(text)).toEqual(['CN=www.example.com', 'CN=LabCA']);
    expect(text).toMatch(/friendlyName: B.ro/);
    writeFileSync(
      at('out.key'),
      /-----BEGIN PRIVATE KEY[\s\S]*END PRIVATE KEY-----\n/.exec(text)?.[0] ?? '',
    );
    const publicOf = (path: string): string => openssl('pkey', '-in', at(path), '-pubout');
    expect(publicOf('out.key')).toBe(publicOf('web.key'));
  });

  test('the output of another program is read: only the requested changes are made', async () => {
    await host.state('x509.certificate_managed', at('web.crt'), web());
    for (const [name, extra] of [
      ['new', []],
      ['old', ['-certpbe', 'PBE-SHA1-3DES', '-keypbe', 'PBE-SHA1-3DES', '-macalg', 'sha1']],
    ] as const) {
      openssl(
        ...['pkcs12', '-export', '-in', at('web.crt'), '-inkey', at('web.key')],
        ...['-name', 'web', '-passout', 'pass:x', '-out', at(`${name}.p12`), ...extra],
      );
      const args = web({
        encoding: 'pkcs12',
        pkcs12_passphrase: 'x',
        pkcs12_friendlyname: 'web',
        mode: '0600',
      });
      const path = at(`${name}.p12`);
      const same = await host.test('x509.certificate_managed', path, args);
      expect(same, name).toMatchObject({ result: true, changes: nothing });
      const renamed = await host.test('x509.certificate_managed', path, {
        ...args,
        pkcs12_friendlyname: 'other',
      });
      expect(renamed.changes).toEqual({ pkcs12_friendlyname: { old: 'web', new: 'other' } });
      const locked = await host.test('x509.certificate_managed', path, {
        ...args,
        pkcs12_passphrase: 'y',
      });
      expect(locked.result).toBe(null);
      const key = await host.test('x509.certificate_managed', path, {
        ...args,
        private_key: at('ca.key'),
      });
      expect(Object.keys(key.changes)).toContain('private_key');
    }
  });

  test('another encoding of the same is a change, and what is neither is replaced', async () => {
    const args = web({ append_certs: [] });
    await host.state('x509.certificate_managed', at('web.crt'), args);
    const changes = await twice('x509.certificate_managed', 'web.crt', {
      ...args,
      encoding: 'der',
    });
    expect(changes).toEqual({ encoding: { old: 'pem', new: 'der' } });
    writeFileSync(at('web.crt'), Buffer.from([0x30, 0x82, 0xff]));
    expect(
      await twice('x509.certificate_managed', 'web.crt', { ...args, encoding: 'der' }),
    ).toEqual({
      replaced: 'it could not be read',
    });
  });

  test('requests, revocation lists and keys as der', async () => {
    const der = { encoding: 'der' };
    await twice('x509.csr_managed', 'web.csr', { private_key: at('web.key'), CN: 'w', ...der });
    openssl('req', '-inform', 'DER', '-in', at('web.csr'), '-noout', '-verify');
    const ca = { signing_private_key: at('ca.key'), signing_cert: at('ca.crt') };
    await twice('x509.crl_managed', 'ca.crl', {
      ...ca,
      revoked: [{ serial_number: 'AB' }],
      ...der,
    });
    openssl('crl', '-inform', 'DER', '-in', at('ca.crl'), '-noout');
    for (const [name, args, pass] of [
      ['plain.key', { algo: 'ec' }, 'pass:'],
      ['locked.key', { algo: 'rsa', passphrase: 'x' }, 'pass:x'],
    ] as const) {
      await twice('x509.private_key_managed', name, { ...args, ...der });
      openssl('pkey', '-inform', 'DER', '-in', at(name), '-passin', pass, '-noout');
    }
    await twice('x509.private_key_managed', 'k.p12', {
      algo: 'ed25519',
      passphrase: 'x',
      encoding: 'pkcs12',
    });
    const key = openssl('pkcs12', '-in', at('k.p12'), '-passin', 'pass:x', '-nodes');
    expect(key).toContain('BEGIN PRIVATE KEY');
  });

  test('a key stays when only its encoding or passphrase is to be another', async () => {
    const path = at('same.key');
    const publicOf = (...how: string[]): string => openssl('pkey', '-in', path, '-pubout', ...how);
    await host.state('x509.private_key_managed', path, { algo: 'ec' });
    const made = publicOf();
    const locked = { algo: 'ec', passphrase: 'x' };
    expect(await twice('x509.private_key_managed', 'same.key', locked)).toEqual({
      passphrase: { old: 'none', new: 'set' },
    });
    expect(publicOf('-passin', 'pass:x')).toBe(made);
    await twice('x509.private_key_managed', 'same.key', { ...locked, encoding: 'pkcs12' });
    const inside = openssl('pkcs12', '-in', path, '-passin', 'pass:x', '-nodes');
    expect(inside).toContain('BEGIN PRIVATE KEY');
    const changes = await twice('x509.private_key_managed', 'same.key', {
      ...locked,
      encoding: 'der',
    });
    expect(changes).toEqual({ encoding: { old: 'pkcs12', new: 'der' } });
    expect(publicOf('-inform', 'DER', '-passin', 'pass:x')).toBe(made);
    expect(statSync(path).mode & 0o777).toBe(0o400);
    await twice('x509.private_key_managed', 'same.key', { ...locked, keysize: 384 });
    expect(publicOf('-passin', 'pass:x')).not.toBe(made);
  });

  test('a certificate stays when only its encoding, chain or name is to be another', async () => {
    const serialOf = async (): Promise<unknown> =>
      openssl('x509', '-in', at('web.crt'), '-noout', '-serial', '-fingerprint');
    await host.state('x509.certificate_managed', at('web.crt'), web({ append_certs: [] }));
    const made = await serialOf();
    await twice('x509.certificate_managed', 'web.crt', web());
    expect(await serialOf()).toBe(made);
    for (const encoding of ['pkcs7_der', 'pkcs12', 'pem'])
      await twice('x509.certificate_managed', 'web.crt', web({ encoding, mode: '0600' }));
    expect(await serialOf()).toBe(made);
    await twice('x509.certificate_managed', 'web.crt', web({ encoding: 'der', append_certs: [] }));
    await twice('x509.certificate_managed', 'web.crt', web({ CN: 'b.example.com' }));
    expect(await serialOf()).not.toBe(made);
  });

  test('a request and a revocation list stay when only the encoding is to be another', async () => {
    const bytes = (path: string): Buffer =>
      Buffer.from(readFileSync(at(path), 'latin1').replace(/-----.*-----/g, ''), 'base64');
    const request = { private_key: at('web.key'), CN: 'w' };
    await host.state('x509.csr_managed', at('web.csr'), request);
    const made = bytes('web.csr');
    await twice('x509.csr_managed', 'web.csr', { ...request, encoding: 'der' });
    expect(readFileSync(at('web.csr')).equals(made)).toBe(true);
    const ca = { signing_private_key: at('ca.key'), signing_cert: at('ca.crt') };
    const list = { ...ca, revoked: [{ serial_number: 'AB' }] };
    await host.state('x509.crl_managed', at('ca.crl'), list);
    const signed = bytes('ca.crl');
    await twice('x509.crl_managed', 'ca.crl', { ...list, encoding: 'der' });
    expect(readFileSync(at('ca.crl')).equals(signed)).toBe(true);
  });

  test('a pkcs12 file without a passphrase gets the one that is asked for', async () => {
    const p12 = { encoding: 'pkcs12', mode: '0600' };
    await twice('x509.private_key_managed', 'k.p12', { algo: 'ec', ...p12 });
    const changes = await twice('x509.private_key_managed', 'k.p12', {
      ...{ algo: 'ec', passphrase: 'x' },
      ...p12,
    });
    expect(changes).toEqual({ passphrase: { old: 'none', new: 'set' } });
    openssl('pkcs12', '-in', at('k.p12'), '-passin', 'pass:x', '-nodes');
    await twice('x509.certificate_managed', 'web.p12', web(p12));
    const protecting = web({ ...p12, pkcs12_passphrase: 'x' });
    expect(await twice('x509.certificate_managed', 'web.p12', protecting)).toEqual({
      pkcs12_passphrase: { old: 'none', new: 'set' },
    });
    openssl('pkcs12', '-in', at('web.p12'), '-passin', 'pass:x', '-nodes');
  });

  test('unknown encodings are refused by name', async () => {
    const refused = await host.state('x509.csr_managed', at('a'), {
      private_key: at('web.key'),
      encoding: 'pkcs12',
    });
    expect(refused.comment).toBe("Invalid value 'pkcs12' for encoding. Valid: der, pem");
  });

  test('x509.encode_* and create_* answer by PEM or base64', async () => {
    const answer = await host.call('x509.encode_certificate', at('ca.crt'), 'der');
    writeFileSync(at('ca.der'), Buffer.from(String(answer), 'base64'));
    expect(await host.call('x509.encode_certificate', at('ca.der'))).toBe(
      readFileSync(at('ca.crt'), 'utf8'),
    );
    const p12 = await host.call(
      ...['x509.encode_certificate', at('ca.crt'), 'pkcs12', null, at('ca.key'), null, 'x'],
    );
    writeFileSync(at('ca.p12'), Buffer.from(String(p12), 'base64'));
    const read = ['pkcs12', '-in', at('ca.p12'), '-passin', 'pass:x', '-nokeys'];
    expect(subjectsOf(openssl(...read))).toEqual(['CN=LabCA']);
    await expect(
      host.call('x509.encode_certificate', at('ca.crt'), 'pem', null, at('ca.key')),
    ).rejects.toThrow('Embedding private keys is only supported for pkcs12 encoding');
    const key = await host.call('x509.encode_private_key', at('ca.key'), 'der');
    writeFileSync(at('k.der'), Buffer.from(String(key), 'base64'));
    openssl('pkey', '-inform', 'DER', '-in', at('k.der'), '-noout');
  });
});
