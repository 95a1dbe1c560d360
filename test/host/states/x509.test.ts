import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import { nothing } from '../../helpers/nothing.ts';
import { makeHost, type TestHost } from '../../states/runner.ts';

let host: TestHost;
beforeEach(() => {
  host = makeHost();
});
afterEach(() => host.remove());

const missing = which('openssl') === undefined ? ' (needs openssl)' : '';

/** openssl judges what was made here. */
const openssl = (...args: string[]): string =>
  execFileSync('openssl', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

/** In test mode, for real, and once more without any change. */
const thrice = async (fun: string, path: string, args: Record<string, unknown>) => {
  const look = () => (existsSync(`${host.root}/${path}`) ? host.file(path) : undefined);
  const before = look();
  const rehearsed = await host.test(fun, `${host.root}/${path}`, args);
  expect(rehearsed.result, String(rehearsed.comment)).toBe(null);
  expect(look()).toBe(before);
  const done = await host.state(fun, `${host.root}/${path}`, args);
  expect(done.result, String(done.comment)).toBe(true);
  expect(Object.keys(done.changes)).toEqual(Object.keys(rehearsed.changes));
  const made = readFileSync(`${host.root}/${path}`, 'latin1');
  const again = await host.state(fun, `${host.root}/${path}`, args);
  expect(again).toMatchObject({ result: true, changes: nothing });
  expect(readFileSync(`${host.root}/${path}`, 'latin1')).toBe(made);
  return done;
};

const at = (path: string): string => `${host.root}/${path}`;

const authority = async (algo = 'ec') => {
  await host.state('x509.private_key_managed', at('ca.key'), { algo });
  await host.state('x509.certificate_managed', at('ca.crt'), {
    signing_private_key: at('ca.key'),
    C: 'NL',
    O: 'Lab, Inc',
    CN: 'Lab CA',
    basicConstraints: 'critical CA:true, pathlen:1',
    keyUsage: 'critical keyCertSign, cRLSign',
    subjectKeyIdentifier: 'hash',
    authorityKeyIdentifier: 'keyid,issuer',
    days_valid: 3650,
  });
  await host.state('x509.private_key_managed', at('web.key'), { algo });
};

const webArgs = () => ({
  signing_private_key: at('ca.key'),
  signing_cert: at('ca.crt'),
  public_key: at('web.key'),
  CN: 'www.example.com',
  basicConstraints: 'critical CA:false',
  keyUsage: 'critical digitalSignature, keyEncipherment',
  extendedKeyUsage: 'serverAuth, clientAuth',
  subjectKeyIdentifier: 'hash',
  authorityKeyIdentifier: 'keyid:always',
  subjectAltName: 'DNS:www.example.com, IP:192.0.2.1, IP:2001:db8::1, email:a@example.com',
  crlDistributionPoints: 'URI:http://example.com/ca.crl',
  authorityInfoAccess: 'OCSP;URI:http://ocsp.example.com',
  certificatePolicies: '1.2.3.4',
  days_valid: 100,
});

describe.skipIf(missing)(`x509, judged by openssl${missing}`, () => {
  test.each([
    ['rsa', 2048, /RSA key ok|Key is valid/],
    ['ec', 384, /Key is valid/],
    ['ed25519', undefined, /Key is valid/],
    ['ed448', undefined, /Key is valid/],
  ])('private_key_managed: %s', { tags: 'slow' }, async (algo, keysize, says) => {
    const args = { algo, ...(keysize === undefined ? {} : { keysize }) };
    const { changes } = await thrice('x509.private_key_managed', 'new.key', args);
    expect(changes).toEqual({ created: at('new.key') });
    expect(statSync(at('new.key')).mode & 0o777).toBe(0o400);
    expect(openssl('pkey', '-check', '-noout', '-in', at('new.key'))).toMatch(says);
  });

  test('a key under a passphrase stays; without it nothing is overwritten', async () => {
    const args = { algo: 'ec', passphrase: 's3cret' };
    const { changes, comment } = await thrice('x509.private_key_managed', 'new.key', args);
    expect(JSON.stringify(changes) + comment).not.toContain('s3cret');
    openssl('pkey', '-in', at('new.key'), '-passin', 'pass:s3cret', '-noout');
    const other = { algo: 'ec', passphrase: 'other' };
    const refused = await host.state('x509.private_key_managed', at('new.key'), other);
    expect(refused).toMatchObject({ result: false, changes: nothing });
    const forced = { ...other, overwrite: true };
    expect(await host.state('x509.private_key_managed', at('new.key'), forced)).toMatchObject({
      result: true,
      changes: { replaced: at('new.key') },
    });
    openssl('pkey', '-in', at('new.key'), '-passin', 'pass:other', '-noout');
  });

  test.each<[string, object]>([
    ['certificate_managed', { signing_private_key: 'later.key', CN: 'x' }],
    ['csr_managed', { private_key: 'later.key', CN: 'x' }],
    ['crl_managed', { signing_private_key: 'later.key', revoked: [{ certificate: 'later.crt' }] }],
    ['pem_managed', { text: 'later.crt' }],
  ])('%s predicts what it makes of files that are yet to be made', async (fun, given) => {
    const args = JSON.parse(JSON.stringify(given).replaceAll('later', at('later')));
    expect(await host.test(`x509.${fun}`, at('new'), args)).toMatchObject({
      result: null,
      changes: nothing,
      comment: expect.stringContaining(
        `; if created in this state run, ${at('new')} would be made`,
      ),
    });
    expect(await host.state(`x509.${fun}`, at('new'), args)).toMatchObject({ result: false });
    expect(existsSync(at('new'))).toBe(false);
  });

  test('another size or algorithm makes a new key', async () => {
    await host.state('x509.private_key_managed', at('new.key'), { algo: 'ec' });
    expect(
      (await thrice('x509.private_key_managed', 'new.key', { keysize: 2048 })).changes,
    ).toEqual({ algo: { old: 'ec', new: 'rsa' } });
  });

  test.each(['rsa', 'ec', 'ed25519'])('certificates by a CA of %s verify', async algo => {
    await authority(algo);
    await thrice('x509.certificate_managed', 'web.crt', webArgs());
    expect(openssl('verify', '-x509_strict', '-CAfile', at('ca.crt'), at('web.crt'))).toBe(
      `${at('web.crt')}: OK\n`,
    );
    const text = openssl('x509', '-in', at('web.crt'), '-noout', '-text');
    for (const line of [
      'Issuer: C = NL, O = "Lab, Inc", CN = Lab CA',
      'Subject: CN = www.example.com',
      'Digital Signature, Key Encipherment',
      'TLS Web Server Authentication, TLS Web Client Authentication',
      'DNS:www.example.com, IP Address:192.0.2.1, IP Address:2001:DB8:0:0:0:0:0:1, email:a@example.com',
      'URI:http://example.com/ca.crl',
      'OCSP - URI:http://ocsp.example.com',
      'Policy: 1.2.3.4',
      'CA:FALSE',
    ])
      expect(text).toContain(line);
    expect(openssl('x509', '-in', at('ca.crt'), '-noout', '-text')).toContain('CA:TRUE, pathlen:1');
  });

  test('a certificate is renewed when it ends soon, and when what is wanted changes', async () => {
    await authority();
    await host.state('x509.certificate_managed', at('web.crt'), webArgs());
    const soon = { ...webArgs(), days_valid: 300, days_remaining: 200 };
    const renewed = await thrice('x509.certificate_managed', 'web.crt', soon);
    expect(Object.keys(renewed.changes)).toEqual(['expiration']);
    const other = { ...soon, CN: 'w3.example.com', keyUsage: 'digitalSignature' };
    const changed = await thrice('x509.certificate_managed', 'web.crt', other);
    expect(changed.changes).toMatchObject({
      subject_name: { old: 'CN=www.example.com', new: 'CN=w3.example.com' },
      extensions: {
        'X509v3 Key Usage': {
          old: 'critical Digital Signature, Key Encipherment',
          new: 'Digital Signature',
        },
      },
    });
    await host.state('x509.private_key_managed', at('web.key'), { algo: 'ec', new: true });
    const rekeyed = await thrice('x509.certificate_managed', 'web.crt', other);
    expect(Object.keys(rekeyed.changes)).toEqual(['public_key', 'extensions']);
  });

  test('a request is signed as it asks', async () => {
    await authority();
    await thrice('x509.csr_managed', 'web.csr', {
      private_key: at('web.key'),
      CN: 'csr.example.com',
      emailAddress: 'a@example.com',
      subjectAltName: ['DNS:csr.example.com'],
    });
    const check = spawnSync(
      'openssl',
      ['req', '-in', at('web.csr'), '-noout', '-verify', '-text'],
      {
        encoding: 'utf8',
      },
    );
    expect(check.stdout + check.stderr).toMatch(/verify OK/i);
    expect(check.stdout).toContain('DNS:csr.example.com');
    await thrice('x509.certificate_managed', 'web.crt', {
      signing_private_key: at('ca.key'),
      signing_cert: at('ca.crt'),
      csr: at('web.csr'),
      append_certs: [at('ca.crt')],
      serial_number: 'AB:CD',
      not_before: '2026-01-01 00:00:00',
      not_after: '2049-12-31 23:59:59',
    });
    const text = openssl('x509', '-in', at('web.crt'), '-noout', '-text');
    expect(text).toMatch(/Subject: CN = csr\.example\.com, emailAddress = a@example\.com/);
    expect(text).toContain('DNS:csr.example.com');
    expect(text).toContain('Not After : Dec 31 23:59:59 2049 GMT');
    expect(openssl('x509', '-in', at('web.crt'), '-noout', '-serial')).toBe('serial=ABCD\n');
    expect(readFileSync(at('web.crt'), 'utf8').match(/BEGIN CERTIFICATE/g)).toHaveLength(2);
  });

  test('a revocation list revokes', async () => {
    await authority();
    await host.state('x509.certificate_managed', at('web.crt'), webArgs());
    const args = {
      signing_private_key: at('ca.key'),
      signing_cert: at('ca.crt'),
      revoked: [
        { certificate: at('web.crt'), reason: 'keyCompromise' },
        { serial_number: '0A:0B', revocation_date: '2026-01-02 03:04:05' },
        { serial_number: '0C', not_after: '2020-01-01 00:00:00' },
      ],
    };
    await thrice('x509.crl_managed', 'ca.crl', args);
    const text = openssl('crl', '-in', at('ca.crl'), '-noout', '-text', '-CAfile', at('ca.crt'));
    expect(text).toContain('Key Compromise');
    expect(text).toContain('Serial Number: 0A0B');
    expect(text).not.toContain('Serial Number: 0C');
    const check = spawnSync(
      'openssl',
      ['verify', '-crl_check', '-CAfile', at('ca.crt'), '-CRLfile', at('ca.crl'), at('web.crt')],
      { encoding: 'utf8' },
    );
    expect(check.stdout + check.stderr).toContain('certificate revoked');
    const fewer = { ...args, revoked: args.revoked.slice(1) };
    expect((await thrice('x509.crl_managed', 'ca.crl', fewer)).changes).toHaveProperty('revoked');
    expect(await host.call('x509.verify_crl', at('ca.crl'), at('ca.crt'))).toBe(true);
    expect(await host.call('x509.read_crl', at('ca.crl'))).toMatchObject({
      Issuer: { CN: 'Lab CA' },
      'Revoked Certificates': [{ '0A:0B': { 'Revocation Date': '2026-01-02 03:04:05' } }],
    });
  });

  test("the parts of a subject have Salt's order: a certificate of Salt is not made again", async () => {
    await authority();
    await thrice('x509.certificate_managed', 'web.crt', {
      ...webArgs(),
      ...{ GN: 'g', UID: 'u', SN: 's', emailAddress: 'a@b.c', OU: 'U', O: 'O', L: 'M', ST: 'BY' },
      ...{ C: 'DE', SERIALNUMBER: '7' },
    });
    expect(openssl('x509', '-in', at('web.crt'), '-noout', '-subject')).toBe(
      'subject=C = DE, ST = BY, L = M, O = O, OU = U, CN = www.example.com, emailAddress = a@b.c, SN = s, GN = g, UID = u, serialNumber = 7\n',
    );
    const other = { ...webArgs(), signing_private_key: at('web.key') };
    expect(await host.state('x509.certificate_managed', at('x.crt'), other)).toMatchObject({
      result: false,
      comment: "Signing private key does not match the certificate's public key",
    });
  });

  test.each([
    [
      { permitted: ['DNS:.x.y', 'IP:2001:db8::/32'], excluded: ['IP:10.0.0.0/8'], critical: true },
      { requireExplicitPolicy: 3, inhibitPolicyMapping: 0 },
      { value: 2 },
    ],
    [
      'critical, permitted;DNS:.x.y, permitted;IP:2001:db8::/ffff:ffff::, excluded;IP:10.0.0.0/255.0.0.0',
      'requireExplicitPolicy:3, inhibitPolicyMapping:0',
      2,
    ],
  ])(
    'a certificate limits names and policies as openssl reads it (%#)',
    async (nameConstraints, policyConstraints, inhibitAnyPolicy) => {
      await authority();
      const limits = { nameConstraints, policyConstraints, inhibitAnyPolicy };
      await thrice('x509.certificate_managed', 'web.crt', { ...webArgs(), ...limits });
      const text = openssl('x509', '-in', at('web.crt'), '-noout', '-text');
      expect(text).toMatch(
        /Name Constraints: critical\n +Permitted:\n +DNS:\.x\.y\n +IP:2001:DB8:.*\/FFFF:FFFF:.*\n +Excluded:\n +IP:10\.0\.0\.0\/255\.0\.0\.0\n/,
      );
      expect(text).toMatch(/Require Explicit Policy:3, Inhibit Policy Mapping:0/);
      expect(text).toMatch(/Inhibit Any Policy: \n +2\n/);
      const wrong = { ...webArgs(), nameConstraints: 'allowed;DNS:x' };
      expect(await host.state('x509.certificate_managed', at('x.crt'), wrong)).toMatchObject({
        result: false,
        comment: 'The extension nameConstraints has a value that is not known: allowed;DNS:x',
      });
    },
  );

  test('a private key is readable by its owner only, also if it replaces a readable file', async () => {
    const mode = (path: string): string => (statSync(at(path)).mode & 0o777).toString(8);
    host.write('open.key', 'no key', 0o644);
    await thrice('x509.private_key_managed', 'open.key', { algo: 'ec', overwrite: true });
    expect(mode('open.key')).toBe('400');
    host.write('copy.key', host.file('open.key'), 0o644);
    await thrice('x509.private_key_managed', 'copy.key', { algo: 'ec' });
    expect(mode('copy.key')).toBe('400');
    await thrice('x509.private_key_managed', 'copy.key', { algo: 'ec', mode: '0440' });
    expect(mode('copy.key')).toBe('440');
  });

  test('files made by openssl are read', async () => {
    execFileSync(
      'openssl',
      [
        ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '10', '-keyout', at('o.key')],
        ...[
          '-out',
          at('o.crt'),
          '-subj',
          '/C=NL/CN=openssl',
          '-addext',
          'subjectAltName=DNS:o.example',
        ],
      ],
      { stdio: 'ignore' },
    );
    const read = (await host.call('x509.read_certificate', at('o.crt'))) as Record<string, unknown>;
    const print = openssl('x509', '-in', at('o.crt'), '-noout', '-fingerprint', '-sha256');
    expect(print).toContain(String(read['SHA-256 Finger Print']));
    expect(read).toMatchObject({
      Subject: { C: 'NL', CN: 'openssl' },
      'Key Size': 2048,
      'X509v3 Extensions': { 'X509v3 Subject Alternative Name': 'DNS:o.example' },
    });
    expect(await host.call('x509.verify_signature', at('o.crt'))).toBe(true);
    expect(await host.call('x509.verify_private_key', at('o.key'), at('o.crt'))).toBe(true);
    expect(await host.call('x509.will_expire', at('o.crt'), 11)).toMatchObject({
      cn: 'openssl',
      will_expire: true,
    });
    expect(await host.call('x509.expires', at('o.crt'), 9)).toBe(false);
  });

  test('a comment in any letters stays in a file that is as wanted', async () => {
    await authority();
    const args = { signing_private_key: at('ca.key'), CN: 'Lab CA', days_valid: 3650 };
    await host.state('x509.certificate_managed', at('web.crt'), args);
    const commented = `# Türkçe ✓\n${readFileSync(at('web.crt'), 'utf8')}`;
    writeFileSync(at('web.crt'), commented);
    expect(await host.state('x509.certificate_managed', at('web.crt'), args)).toMatchObject({
      result: true,
      changes: nothing,
    });
    expect(readFileSync(at('web.crt'), 'utf8')).toBe(commented);
  });

  test("a revocation list has Salt's reasons, and another digest makes a new one", async () => {
    await authority();
    const ca = { signing_private_key: at('ca.key'), signing_cert: at('ca.crt') };
    const revoked = [
      { serial_number: 'D6:D2', extensions: { CRLReason: 'keyCompromise' } },
      { serial_number: 'AA', extensions: { CRLReason: 'aACompromise' } },
    ];
    await thrice('x509.crl_managed', 'ca.crl', { ...ca, revoked });
    const shown = openssl('crl', '-in', at('ca.crl'), '-noout', '-text');
    expect(shown).toContain('Key Compromise');
    expect(shown).toContain('AA Compromise');
    const other = await thrice('x509.crl_managed', 'ca.crl', { ...ca, revoked, digest: 'SHA384' });
    expect(other.changes).toEqual({ digest: { old: 'sha256', new: 'sha384' } });
    const unknown = [
      { serial_number: 'AA', extensions: { invalidityDate: '2022-11-01 00:00:00' } },
    ];
    const refused = await host.state('x509.crl_managed', at('ca.crl'), { ...ca, revoked: unknown });
    expect(refused).toMatchObject({
      result: false,
      comment:
        "The extension 'invalidityDate' of a revoked certificate is not supported: only CRLReason is",
    });
    const short = { ...ca, revoked, days_valid: 2 };
    await host.state('x509.crl_managed', at('short.crl'), short);
    const kept = { ...short, days_remaining: 0 };
    expect((await host.state('x509.crl_managed', at('short.crl'), kept)).changes).toEqual(nothing);
  });

  test('a digest in capitals, or by its older name, is that digest', async () => {
    await authority();
    const args = { private_key: at('web.key'), CN: 'w' };
    await thrice('x509.csr_managed', 'web.csr', { ...args, digest: 'SHA512' });
    const { changes } = await thrice('x509.csr_managed', 'web.csr', {
      ...args,
      algorithm: 'sha384',
    });
    expect(changes).toEqual({ digest: { old: 'sha512', new: 'sha384' } });
  });

  test('x509.write_pem makes a private key readable by its owner only', async () => {
    await authority();
    await host.call('x509.write_pem', at('web.key'), at('copy.key'));
    expect(statSync(at('copy.key')).mode & 0o777).toBe(0o600);
  });

  test('a PEM is put as it is, whatever stands around it', async () => {
    await authority();
    const pem = readFileSync(at('ca.crt'), 'utf8');
    await thrice('x509.pem_managed', 'copy.crt', {
      text: `some words\n${pem.replaceAll('\n', '\r\n')}`,
    });
    expect(readFileSync(at('copy.crt'), 'utf8')).toBe(pem);
  });

  test.each([
    [{}, "A certificate needs 'signing_private_key' to be signed by"],
    [{ signing_private_key: 'ca.key', CNN: 'x' }, "'CNN' is no argument of a certificate"],
    [{ signing_private_key: 'ca.key', ca_server: 'x' }, /^'ca_server' is not supported/],
    [{ signing_private_key: 'ca.key', nsCertType: 'x' }, /'nsCertType' is not supported/],
    [
      { signing_private_key: 'ca.key', keyUsage: 'fly' },
      /keyUsage has a value that is not known: fly/,
    ],
    [{ signing_private_key: 'ca.key', days_valid: 'x' }, /'days_valid' must be a number of days/],
    [{ signing_private_key: 'nowhere' }, /neither a PEM nor a file that can be read \(ENOENT\)/],
    [
      { signing_private_key: 'web.key', signing_cert: 'ca.crt', public_key: 'web.key' },
      /does not match/,
    ],
    [
      { signing_private_key: 'ca.key', encoding: 'jks' },
      /Invalid value 'jks' for encoding. Valid: der, pem, pkcs12/,
    ],
  ])('%j is refused', async (args, says) => {
    await authority();
    const full = Object.fromEntries(
      Object.entries(args).map(([key, value]) => [
        key,
        /^(ca|web)\./.test(value) ? at(value) : value,
      ]),
    );
    const { result, comment } = await host.state('x509.certificate_managed', at('x.crt'), full);
    expect(result).toBe(false);
    expect(comment).toMatch(says);
  });

  test('half a certificate does not cause a crash', async () => {
    await authority();
    const pem = readFileSync(at('ca.crt'), 'utf8').split('\n');
    for (const lines of [2, 3, 5]) {
      const cut = [...pem.slice(0, lines), pem.at(-2)].join('\n');
      await expect(host.call('x509.read_certificate', cut)).rejects.toThrow(
        /^The certificate cannot be read: /,
      );
    }
  });
});
