import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { nothing } from '../../helpers/nothing.ts';
import { makeHost, type TestHost } from '../../states/runner.ts';

/**
 * Stands in for certbot, whose service needs the internet: keeps its arguments, and puts what
 * `next` holds where certbot keeps certificates.
 */
const certbot = `#!/bin/sh
printf '%s\\n' "$@" > "$ROOT/argv"
for word; do case $word in --cert-name=*) name=\${word#*=};; --expand) rm -f "$ROOT/wants-expand";; esac; done
[ -e "$ROOT/wants-expand" ] && { echo "You have an existing certificate; use --expand" >&2; exit 1; }
[ -e "$ROOT/fail" ] && { echo "The client lacks sufficient authorization" >&2; exit 1; }
mkdir -p "$ROOT/live/$name"
cp "$ROOT/next.crt" "$ROOT/live/$name/cert.pem"
cp "$ROOT/next.key" "$ROOT/live/$name/privkey.pem"
`;

let host: TestHost;
let path: string | undefined;
const owner =
  process.getuid?.() === 0 ? {} : { owner: process.getuid?.(), group: process.getgid?.() };

beforeEach(() => {
  host = makeHost({
    salt: {
      'config.option': async name => (name === 'acme.live_dir' ? join(host.root, 'live') : null),
    },
  });
  mkdirSync(join(host.root, 'bin'));
  writeFileSync(join(host.root, 'bin/certbot'), certbot, { mode: 0o755 });
  path = process.env.PATH;
  process.env.PATH = `${host.root}/bin:${path}`;
  process.env.ROOT = host.root;
});
afterEach(() => {
  process.env.PATH = path;
  delete process.env.ROOT;
  host.remove();
});

const next = async (days: number): Promise<void> => {
  await host.call('x509.create_private_key', join(host.root, 'next.key'), { algo: 'ec' });
  await host.call('x509.create_certificate', join(host.root, 'next.crt'), {
    signing_private_key: join(host.root, 'next.key'),
    CN: 'www.example.com',
    days_valid: days,
  });
};

const args = {
  aliases: ['example.com'],
  email: 'a@example.com',
  webroot: '/var/www',
  renew: 30,
  ...owner,
};
const apply = (more = {}) => host.state('acme.cert', 'www.example.com', { ...args, ...more });
const argv = (): string[] => readFileSync(join(host.root, 'argv'), 'utf8').trim().split('\n');

test('a certificate is obtained, kept, and renewed in time', async () => {
  await next(20);
  expect(await host.test('acme.cert', 'www.example.com', args)).toMatchObject({
    result: null,
    comment: 'Certificate www.example.com would have been obtained.',
  });
  expect(await host.call('acme.certs')).toEqual([]);
  expect(await apply()).toMatchObject({
    result: true,
    comment: 'Certificate www.example.com obtained',
    changes: { new: { Subject: { CN: 'www.example.com' } } },
  });
  expect(argv()).toEqual([
    'certonly',
    '--non-interactive',
    '--agree-tos',
    '--cert-name=www.example.com',
    '--authenticator=webroot',
    '--webroot-path=/var/www',
    '--email=a@example.com',
    '--domains=www.example.com',
    '--domains=example.com',
  ]);
  const key = join(host.root, 'live/www.example.com/privkey.pem');
  expect(statSync(key).mode & 0o777).toBe(0o640);
  // It ends within the thirty days.
  await next(90);
  const renewed = await apply();
  expect(renewed.comment).toBe('Certificate www.example.com renewed');
  expect(argv()).toContain('--renew-by-default');
  expect(await apply()).toMatchObject({
    result: true,
    changes: nothing,
    comment: 'Certificate www.example.com exists and does not need renewal.',
  });
  expect(await host.call('acme.certs')).toEqual(['www.example.com']);
});

test('further names expand a certificate; a refusal is reported', async () => {
  await next(90);
  writeFileSync(join(host.root, 'wants-expand'), '');
  expect((await apply()).result).toBe(true);
  expect(argv().at(-1)).toBe('--expand');
  writeFileSync(join(host.root, 'fail'), '');
  expect(await apply({ renew: 'force' })).toMatchObject({
    result: false,
    changes: nothing,
    comment:
      'Certificate www.example.com renewal failed with:\nThe client lacks sufficient authorization',
  });
  expect((await apply({ renew: 'force', server: 'x', test_cert: true })).comment).toBe(
    'Use either server or test_cert, not both',
  );
  expect((await apply({ renew: true, webroot: null, dns_plugin: 'own' })).comment).toMatch(
    "DNS plugin 'own' is not supported",
  );
});
