import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSecure } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { nothing } from '../../helpers/nothing.ts';
import { makeHost, type TestHost } from '../../states/runner.ts';

let host: TestHost;
let servers: Server[];
let url: string;
let secure: string;
let bodies: Record<string, Buffer>;
let answers: string[];

const tagOf = (body: Buffer): string => `"${createHash('md5').update(body).digest('hex')}"`;
const sha256 = (body: Buffer): string => createHash('sha256').update(body).digest('hex');

/** A server as nginx is one: with ETags, but for what is below /plain. */
const serve: RequestListener = ({ url: path = '', method, headers }, response) => {
  const body = bodies[path.replace('/plain', '')];
  const tag = body && tagOf(body);
  const status = !body ? 404 : headers['if-none-match'] === tag ? 304 : 200;
  answers.push(`${method} ${path} ${status}`);
  if (tag && !path.startsWith('/plain')) response.setHeader('ETag', tag);
  response.writeHead(status).end(status === 200 && method === 'GET' ? body : undefined);
};

const listen = async (server: Server): Promise<number> => {
  servers.push(server);
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
};

beforeEach(async () => {
  host = makeHost();
  [servers, answers] = [[], []];
  bodies = { '/f': Buffer.from('one\n') };
  url = `http://127.0.0.1:${await listen(createServer(serve))}`;
  const [key, cert] = [join(host.root, 'key'), join(host.root, 'cert')];
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
      ...['-keyout', key, '-out', cert, '-subj', '/CN=127.0.0.1', '-days', '2'],
    ],
    { stdio: 'ignore' },
  );
  const tls = createSecure({ key: readFileSync(key), cert: readFileSync(cert) }, serve);
  secure = `https://127.0.0.1:${await listen(tls)}`;
});
afterEach(async () => {
  host.remove();
  for (const server of servers) await new Promise(resolve => server.close(resolve));
});

const manage = (options: object, how: 'state' | 'test' = 'state') =>
  host[how]('file.managed', `${host.root}/f`, { source: `${url}/f`, use_etag: true, ...options });

test('a source with an ETag needs no hash and travels only when it changed', async () => {
  expect(await manage({}, 'test')).toMatchObject({ result: null });
  expect(existsSync(join(host.root, 'f'))).toBe(false);
  expect(existsSync(join(host.root, '.cache'))).toBe(false);
  answers = [];
  expect(await manage({})).toMatchObject({ result: true, changes: { diff: 'New file' } });
  expect(await manage({})).toMatchObject({ result: true, changes: nothing });
  expect(await manage({}, 'test')).toMatchObject({ result: true, changes: nothing });
  host.write('f', 'altered here\n');
  expect(await manage({})).toMatchObject({ result: true });
  expect(host.file('f')).toBe('one\n');
  expect(answers).toEqual(['GET /f 200', 'GET /f 304', 'GET /f 304', 'GET /f 304']);

  bodies['/f'] = Buffer.from('two\n');
  answers = [];
  expect(await manage({}, 'test')).toMatchObject({ result: null });
  expect(host.file('f')).toBe('one\n');
  expect(await manage({})).toMatchObject({ changes: { diff: expect.stringContaining('+two') } });
  expect(await manage({})).toMatchObject({ changes: nothing });
  expect(answers).toEqual(['GET /f 200', 'GET /f 200', 'GET /f 304']);
});

test('a copy that was damaged, and one of a server without ETags, is fetched again', async () => {
  await manage({});
  const place = (await host.call('cp.is_cached', `${url}/f`)) as string;
  writeFileSync(place, 'damaged\n');
  host.write('f', 'other\n');
  await manage({});
  expect(host.file('f')).toBe('one\n');
  for (let run = 0; run < 2; run += 1) await manage({ source: `${url}/plain/f` });
  expect(answers).toEqual(['GET /f 200', 'GET /f 200', 'GET /plain/f 200', 'GET /plain/f 200']);
});

test('a hash that is given holds for a source with an ETag, too', async () => {
  const source_hash = '1'.repeat(64);
  expect(await manage({ source_hash })).toMatchObject({
    result: false,
    comment: expect.stringContaining('does not match actual checksum'),
  });
  expect(existsSync(join(host.root, 'f'))).toBe(false);
  const large = Buffer.alloc(3 * 1024 * 1024, 'x');
  bodies['/f'] = large;
  expect(await manage({ source_hash: sha256(large) })).toMatchObject({ result: true });
  await manage({ source_hash: '' });
  expect(answers.at(-1)).toBe('GET /f 304');
  expect(host.file('f')).toHaveLength(large.length);
});

test('cp.cache_file asks for the ETag of what it has', async () => {
  const source = `${url}/f`;
  const options = { saltenv: 'base', use_etag: true };
  const cache = () => host.call('cp.cache_file', source, 'base', options) as Promise<string>;
  const place = await cache();
  expect(await cache()).toBe(place);
  expect(readFileSync(place, 'utf8')).toBe('one\n');
  expect(answers).toEqual(['GET /f 200', 'GET /f 304']);
});

test('file.cached asks for the ETag and fetches once', async () => {
  const run = (how: 'state' | 'test' = 'state') =>
    host[how]('file.cached', `${url}/f`, { use_etag: true });
  expect(await run('test')).toMatchObject({ result: null });
  const hash = sha256(Buffer.from('one\n'));
  expect(await run()).toMatchObject({ changes: { hash: { old: null, new: hash } } });
  expect(await run()).toMatchObject({ result: true, changes: nothing });
  expect(await run('test')).toMatchObject({ result: true, changes: nothing });
  expect(answers).toEqual(['GET /f 200', 'GET /f 304', 'HEAD /f 304']);
  bodies['/f'] = Buffer.from('two\n');
  expect(await run('test')).toMatchObject({ result: null });
  expect(await run()).toMatchObject({ changes: { hash: { old: hash } } });
  expect(await host.state('file.cached', `${url}/f`)).toMatchObject({ result: false });
});

test('cp.cache_file leaves a copy alone that has the hash', async () => {
  const source_hash = sha256(Buffer.from('one\n'));
  for (let run = 0; run < 2; run += 1)
    await host.call('cp.cache_file', `${url}/f`, null, { source_hash });
  expect(answers).toEqual(['GET /f 200']);
});

test('an archive with an ETag is fetched once and needs no hash', async () => {
  host.write('tree/app/a', 'x');
  execFileSync('tar', ['czf', join(host.root, 'a.tgz'), '-C', join(host.root, 'tree'), 'app']);
  bodies['/a.tgz'] = readFileSync(join(host.root, 'a.tgz'));
  const run = (options: object) =>
    host.state('archive.extracted', `${host.root}/out`, `${url}/a.tgz`, options);
  expect(await run({})).toMatchObject({ result: false });
  expect(await run({ use_etag: true })).toMatchObject({ result: true });
  expect(host.file('out/app/a')).toBe('x');
  expect(await run({ use_etag: true })).toMatchObject({ result: true, changes: nothing });
  expect(await host.call('archive.list', `${url}/a.tgz`, { use_etag: true })).toEqual([
    'app/',
    'app/a',
  ]);
  expect(answers).toEqual(['GET /a.tgz 200', 'GET /a.tgz 304', 'GET /a.tgz 304']);
});

test('a certificate nobody vouches for is taken only with verify_ssl False, and with a warning', async () => {
  const source = `${secure}/f`;
  const plain = { source, use_etag: false, skip_verify: true };
  const refused = await manage(plain);
  expect(refused).toMatchObject({ result: false });
  expect(refused.comment).toMatch(/self-signed certificate.*reading https/);
  expect(refused.warnings).toBeUndefined();
  const taken = await manage({ ...plain, verify_ssl: false });
  expect(taken).toMatchObject({ result: true, changes: { diff: 'New file' } });
  expect(taken.warnings).toEqual([expect.stringContaining('verify_ssl is False')]);
  expect(host.file('f')).toBe('one\n');
  const wrong = { source, use_etag: false, source_hash: '1'.repeat(64), verify_ssl: false };
  expect(await manage(wrong)).toMatchObject({ result: false });
  const list = { ...plain, source: [`${secure}/none`, source] };
  expect(await manage(list)).toMatchObject({
    comment: expect.stringContaining('none of the specified sources'),
  });
  expect(await manage({ ...list, verify_ssl: false })).toMatchObject({ result: true });
  expect((await manage({ verify_ssl: false })).warnings).toBeUndefined();
});

test('a file of hashes may stand on a server that is not verified', async () => {
  const hash = sha256(Buffer.from('one\n'));
  bodies['/SUMS'] = Buffer.from(`${hash}  f\n`);
  const source_hash = `${secure}/SUMS`;
  const sumOf = (options: object) =>
    host.call('file.get_source_sum', { source: `${url}/f`, source_hash, ...options });
  await expect(sumOf({})).rejects.toThrow('self-signed certificate');
  expect(await sumOf({ verify_ssl: false })).toEqual({ hash_type: 'sha256', hsum: hash });
  const kept = { verify_ssl: false, source_hash };
  await expect(host.call('cp.cache_file', `${secure}/f`, null, { source_hash })).rejects.toThrow(
    'self-signed certificate',
  );
  expect(await host.call('cp.cache_file', `${secure}/f`, null, kept)).toContain('extrn_files');
});
