import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { nothing } from '../../helpers/nothing.ts';
import { makeHost, type TestHost } from '../../states/runner.ts';
import { runThreeTimes } from '../../states/three-runs.ts';

const body = 'from the web\n';
const sha256 = createHash('sha256').update(body).digest('hex');

let host: TestHost;
let server: Server;
let url: string;
let gets: string[];
let archive: Buffer;

beforeEach(async () => {
  host = makeHost();
  gets = [];
  server = createServer((request, response) => {
    if (request.method === 'GET') gets.push(request.url ?? '');
    if (request.url === '/f') response.end(body);
    else if (request.url === '/a.tgz') response.end(archive);
    else if (request.url === '/SUMS') response.end(`${'0'.repeat(64)}  other\n${sha256}  f\n`);
    else response.writeHead(404).end();
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  host.remove();
  await new Promise(resolve => server.close(resolve));
});

test('a source from the web is fetched when its hash is not what the file has', async () => {
  await runThreeTimes(host, {
    title: '',
    fun: 'file.managed',
    name: 'ROOT/f',
    args: [{ source: `${url}/f`, source_hash: `sha256=${sha256}` }],
    after: { f: body },
  });
  expect(gets).toEqual(['/f']);
});

test('the hash may be in a file of hashes, and the first source that responds is used', async () => {
  const options = { source: [`${url}/none`, `${url}/f`], source_hash: `${url}/SUMS` };
  expect(await host.state('file.managed', `${host.root}/f`, options)).toMatchObject({
    result: true,
  });
  expect(host.file('f')).toBe(body);
});

test('a source with another hash is refused and leaves nothing behind', async () => {
  const wrong = '1'.repeat(64);
  const result = await host.state('file.managed', `${host.root}/f`, {
    source: `${url}/f`,
    source_hash: wrong,
  });
  expect(result).toMatchObject({
    result: false,
    changes: nothing,
    comment: `Specified sha256 checksum for ${url}/f (${wrong}) does not match actual checksum (${sha256}). If the 'source_hash' value refers to a remote file with multiple possible matches, then it may be necessary to set 'source_hash_name'.`,
  });
  expect(existsSync(join(host.root, 'f'))).toBe(false);
});

test('a source without a hash is refused unless the state accepts it', async () => {
  const source = `${url.replace('//', '//anna:secret@')}/f`;
  const refused = await host.state('file.managed', `${host.root}/f`, { source });
  expect(refused.comment).toBe(
    `Unable to verify upstream hash of source file ${url.replace('//', '//<redacted>@')}/f, please set source_hash or set skip_verify to True`,
  );
  const taken = await host.state('file.managed', `${host.root}/f`, { source, skip_verify: true });
  expect(taken.result).toBe(true);
  expect(
    await host.state('file.managed', `${host.root}/g`, {
      source: `${url}/none`,
      skip_verify: true,
    }),
  ).toMatchObject({
    result: false,
    comment: `Unable to manage file: Error: HTTP 404: Not Found reading ${url}/none`,
  });
});

test('an archive from the web is fetched once', async () => {
  host.write('tree/app/a', 'x');
  execFileSync('tar', ['czf', join(host.root, 'a.tgz'), '-C', join(host.root, 'tree'), 'app']);
  archive = readFileSync(join(host.root, 'a.tgz'));
  const source_hash = createHash('sha256').update(archive).digest('hex');
  const run = () =>
    host.state('archive.extracted', `${host.root}/out`, `${url}/a.tgz`, { source_hash });
  expect(await run()).toMatchObject({
    result: true,
    comment: `${url}/a.tgz extracted to ${host.root}/out/, due to absence of one or more files/dirs`,
  });
  expect(await run()).toMatchObject({ result: true, changes: nothing });
  expect(gets).toEqual(['/a.tgz']);
});
