import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { removeFolder } from '../../helpers/remove-folder.ts';
import { makeHost, type TestHost } from '../../states/runner.ts';

const folder = mkdtempSync(join(tmpdir(), 'tsalt-tls-'));
const file = join(folder, 'www.pem');
let host: TestHost;

beforeAll(() => {
  host = makeHost();
  const words = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
  const to = [
    '-nodes',
    '-keyout',
    join(folder, 'key'),
    '-out',
    file,
    '-days',
    '9',
    '-subj',
    '/CN=x',
  ];
  execFileSync('openssl', [...words, ...to], { stdio: 'ignore' });
});
afterAll(() => {
  host.remove();
  removeFolder(folder);
});

const state = (options = {}, name = file) => host.state('tls.valid_certificate', name, options);

test('a certificate is valid for as long as it is, in test mode too', async () => {
  const comment = expect.stringMatching(/^Certificate is valid for 8 days, 23:5\d:\d\d(\.\d{6})?$/);
  const good = { name: file, result: true, changes: {}, comment };
  expect(await state()).toEqual(good);
  expect(await state({ weeks: 1, days: 1, hours: 23, minutes: 58, seconds: 1 })).toEqual(good);
  expect(await host.test('tls.valid_certificate', file)).toEqual(good);
  const text = `before\n${readFileSync(file, 'utf8')}`;
  expect(await state({}, text)).toMatchObject({ result: true });
});

test('one that is not valid long enough fails', async () => {
  expect(await state({ weeks: 1, days: 2, seconds: 5 })).toMatchObject({
    result: false,
    comment: expect.stringMatching(
      /^Certificate will expire in 8 days, 23:5\d:\d\d(\.\d{6})?, which is less than 9 days, 0:00:05$/,
    ),
  });
  // The clock is not changed: these are certificates of the past and of the future.
  for (const [days, comment] of [
    [-5, 'Certificate is expired'],
    [5, 'Certificate is not yet valid'],
  ] as const)
    expect(await state({}, madeAt(days))).toMatchObject({ result: false, comment });
  expect(await state({}, join(folder, 'none'))).toMatchObject({
    result: false,
    comment: expect.stringContaining(`Cannot read ${folder}/none`),
  });
  writeFileSync(join(folder, 'empty'), 'x');
  expect(await state({}, join(folder, 'empty'))).toMatchObject({
    result: false,
    comment: `There is no certificate in ${folder}/empty.`,
  });
});

/** A certificate of one day that begins so many days from now. */
const madeAt = (days: number): string => {
  const time = (more: number): string =>
    new Date(Date.now() + (days + more) * 86_400_000).toISOString().replace(/[-:T]|\.\d+/g, '');
  const [request, made, index] = ['request', `at${days}.pem`, 'index'].map(name =>
    join(folder, name),
  );
  const key = join(folder, 'key');
  writeFileSync(index!, '');
  writeFileSync(
    join(folder, 'ca.conf'),
    `[ca]\ndefault_ca=d\n[d]\ndatabase=${index}\nnew_certs_dir=${folder}\nrand_serial=yes\ndefault_md=sha256\npolicy=p\n[p]\ncommonName=supplied\n`,
  );
  const run = (...args: string[]) => execFileSync('openssl', args, { stdio: 'ignore' });
  run('req', '-new', '-key', key, '-subj', '/CN=x', '-out', request!);
  run(
    ...['ca', '-batch', '-config', join(folder, 'ca.conf'), '-in', request!, '-out', made!],
    ...['-selfsign', '-keyfile', key, '-startdate', time(0), '-enddate', time(1)],
  );
  return made!;
};
