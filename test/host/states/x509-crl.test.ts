import { execFileSync } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import { nothing } from '../../helpers/nothing.ts';
import { makeHost, type TestHost } from '../../states/runner.ts';

let host: TestHost;
beforeEach(() => {
  host = makeHost();
});
afterEach(() => host.remove());

const at = (path: string): string => `${host.root}/${path}`;
const missing = which('openssl') === undefined ? ' (needs openssl)' : '';

/** openssl judges what was made here. */
const shown = (): string =>
  execFileSync('openssl', ['crl', '-in', at('ca.crl'), '-noout', '-text'], { encoding: 'utf8' });

describe.skipIf(missing)(`extensions of revocation lists${missing}`, () => {
  const managed = async (more: Record<string, unknown>) =>
    host.state('x509.crl_managed', at('ca.crl'), {
      signing_private_key: at('ca.key'),
      signing_cert: at('ca.crt'),
      ...more,
    });
  const number = (): string => /CRL Number:\s+(\d+)/.exec(shown())?.[1] ?? '';

  beforeEach(async () => {
    await host.state('x509.private_key_managed', at('ca.key'), { algo: 'ec' });
    await host.state('x509.certificate_managed', at('ca.crt'), {
      signing_private_key: at('ca.key'),
      CN: 'Lab CA',
      subjectKeyIdentifier: '01:02:03',
    });
  });

  test('each is written once, as openssl reads it', async () => {
    const extensions = {
      authorityKeyIdentifier: 'keyid:always',
      authorityInfoAccess: 'caIssuers;URI:http://ca.example.com/ca.crt',
      issuerAltName: 'DNS:ca.example.com',
      freshestCRL: 'URI:http://ca.example.com/delta.crl',
      cRLNumber: 300,
      issuingDistributionPoint: {
        critical: true,
        fullname: 'URI:http://ca.example.com/ca.crl',
        onlyuser: true,
        onlysomereasons: ['keyCompromise', 'aACompromise'],
      },
    };
    expect(await managed({ extensions })).toMatchObject({ result: true });
    const text = shown();
    for (const part of [
      /Authority Key Identifier:\s+(?:keyid:)?01:02:03/,
      'CA Issuers - URI:http://ca.example.com/ca.crt',
      /Issuer Alternative Name:\s+DNS:ca.example.com/,
      /Freshest CRL:\s+Full Name:\s+URI:http:\/\/ca.example.com\/delta.crl/,
      /CRL Number:\s+300\n/,
      /Issuing Distribution Point: critical\s+Full Name:\s+URI:http:\/\/ca.example.com\/ca.crl/,
      'Only User Certificates',
      /Only Some Reasons:\s+Key Compromise, AA Compromise/,
    ])
      expect(text).toMatch(part);
    expect(await managed({ extensions })).toMatchObject({ result: true, changes: nothing });
    expect(await managed({ extensions: { ...extensions, cRLNumber: 301 } })).toMatchObject({
      changes: { extensions: ['X509v3 CRL Number'] },
    });
    expect(await host.call('x509.read_crl', at('ca.crl'))).toMatchObject({
      'X509v3 Extensions': { 'X509v3 CRL Number': '301' },
    });
  });

  test('a list that is made again has the next number', async () => {
    const extensions = { cRLNumber: 'auto' };
    await managed({ extensions });
    expect(number()).toBe('1');
    expect(await managed({ extensions })).toMatchObject({ changes: nothing });
    await managed({ extensions, revoked: [{ serial_number: '0A' }] });
    expect(number()).toBe('2');
    await managed({ extensions: { ...extensions, deltaCRLIndicator: 'critical, 1' } });
    expect(number()).toBe('3');
    expect(shown()).toMatch(/Delta CRL Indicator: critical\s+1\n/);
  });

  test.each([
    [{ cRLNumber: 'x' }, 'The extension cRLNumber has a value that is not known: x'],
    [{ basicConstraints: 'CA:true' }, "'basicConstraints' is no extension of a revocation list"],
    [{ issuingDistributionPoint: 'x' }, 'issuingDistributionPoint must be a dictionary'],
    [{ issuingDistributionPoint: { relativename: 'x' } }, 'is not known: relativename'],
  ])('what none can have is refused: %j', async (extensions, comment) => {
    expect(await managed({ extensions })).toMatchObject({
      result: false,
      comment: expect.stringContaining(comment),
    });
  });
});
