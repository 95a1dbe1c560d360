import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as http from '../../../src/modules/http/exec/http.ts';
import * as state from '../../../src/modules/http/states/http.ts';
import { nothing } from '../../helpers/nothing.ts';
import { contextOf, testing, within } from '../../modules/_context.ts';

const context = contextOf({ http });
let server: Server;
let other: Server;
let url = '';
let asked = 0;

const listen = (made: Server): Promise<string> =>
  new Promise(resolve =>
    made.listen(0, '127.0.0.1', () =>
      resolve(`http://127.0.0.1:${(made.address() as AddressInfo).port}`),
    ),
  );

beforeAll(async () => {
  other = createServer((request, response) => response.end(JSON.stringify(request.headers)));
  const elsewhere = await listen(other);
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    asked += 1;
    if (request.url === '/away') response.writeHead(302, { location: elsewhere }).end();
    else if (request.url === '/loop') response.writeHead(301, { location: '/loop' }).end();
    else if (request.url === '/gone') response.writeHead(404).end('no such page');
    else if (request.url === '/soon') response.writeHead(asked < 3 ? 503 : 200).end('ready');
    else
      response.writeHead(200, { 'content-type': 'application/json' }).end(
        JSON.stringify({
          method: request.method,
          url: request.url,
          type: request.headers['content-type'],
          login: request.headers.authorization,
          x: request.headers['x-a'],
          agent: request.headers['user-agent'],
          body: Buffer.concat(chunks).toString(),
        }),
      );
  });
  url = await listen(server);
});

afterAll(() => {
  server.close();
  other.close();
});

const query = (path: string, options = {}) =>
  within(context, () => http.query(`${url}${path}`, options));

test('sends the given request and returns the response as data', async () => {
  expect(
    await query('/p?a=1', {
      params: { b: 'ä &' },
      username: 'u',
      password: 'p',
      header_list: ['X-A: 1'],
      decode: true,
      status: true,
    }),
  ).toMatchObject({
    status: 200,
    dict: { method: 'GET', url: '/p?a=1&b=%C3%A4+%26', login: `Basic ${btoa('u:p')}`, x: '1' },
  });
  const form = 'application/x-www-form-urlencoded';
  const post = { method: 'POST', decode: true };
  expect(await query('/', { ...post, params: { b: true } })).toMatchObject({
    dict: { method: 'POST', url: '/?b=True', body: '', type: form },
  });
  expect(await query('/', { ...post, data: { b: '1' } })).toMatchObject({
    dict: { body: 'b=1', type: form },
  });
  expect(
    await query('/', { ...post, data: '{}', header_dict: { 'Content-Type': 'text/x' } }),
  ).toMatchObject({ dict: { body: '{}', type: 'text/x' } });
  expect(await query('/', { method: 'DELETE', data: 'gone', decode: true })).toMatchObject({
    dict: { method: 'DELETE', body: 'gone' },
  });
  expect(await query('/', { agent: 'me/1', decode: true })).toMatchObject({
    dict: { agent: 'me/1' },
  });
  await expect(query('/', { decode: true, decode_type: 'xml' })).rejects.toThrow('not xml');
  expect(await query('/', { backend: 'requests', decode: true })).toMatchObject({
    dict: { method: 'GET', url: '/' },
  });
  expect(await query('/gone', { text: true, headers: true, decode: true })).toEqual({
    body: 'no such page',
    error: 'HTTP 404: Not Found',
    status: 404,
  });
  expect(await query('/gone', { raise_error: false, status: true })).toEqual({
    body: 'no such page',
    status: 404,
  });
  await expect(query('/', { cookies: 'true' })).rejects.toThrow('http.query does not take cookies');
});

test('a login does not follow a redirect to another server', async () => {
  const { body } = await query('/away', {
    username: 'u',
    password: 'p',
    header_dict: { Cookie: 's', 'X-A': '1' },
  });
  expect(JSON.parse(String(body))).toMatchObject({ 'x-a': '1' });
  expect(body).not.toContain('authorization');
  expect(body).not.toContain('cookie');
  expect((await query('/loop', {})).error).toContain('Too many redirects');
});

test('a server that does not answer is reported as the error of the response, without the login', async () => {
  const answer = await within(context, () =>
    http.query('http://me:hush@127.0.0.1:1/x', { status: true }),
  );
  expect(answer).toEqual({
    error: expect.stringMatching(/connect ECONNREFUSED 127\.0\.0\.1:1 reading (?!.*hush)/),
    status: 0,
  });
});

test('a state holds when body and status are as wanted', async () => {
  const ask = (options: Parameters<typeof state.query>[1], path = '/') =>
    within(context, () => state.query(`${url}${path}`, options));
  expect(await ask({ match: 'GET', status: 200 })).toMatchObject({
    result: true,
    changes: nothing,
    comment: 'Match text "GET" was found. Status 200 was found.',
  });
  expect(
    await ask({ match: 'n[aou] such', match_type: 'pcre', status: [200, 204] }, '/gone'),
  ).toMatchObject({
    result: false,
    comment: 'Match pattern "n[aou] such" was not found. Status 200, 204 was not found.',
  });
  expect(await ask({ match: 'no such', status: 404 }, '/gone')).toMatchObject({
    result: false,
    comment: 'Match text "no such" was not found. Status 404 was found.',
  });
  expect(await ask({})).toMatchObject({ result: false });
  for (const name of ['match_type', 'status_type'])
    expect(await ask({ match: 'GET', [name]: 'glob' })).toMatchObject({
      result: false,
      comment: expect.stringContaining(`"${name}" must be string`),
    });
  const before = asked;
  expect(await within(testing(context), () => state.query(url, { status: 200 }))).toMatchObject({
    result: null,
  });
  expect(asked).toBe(before);
});

test('waits for a server that is not ready yet', async () => {
  asked = 0;
  expect(
    await within(context, () =>
      state.wait_for_successful_query(`${url}/soon`, { status: 200, wait_for: 20 }),
    ),
  ).toMatchObject({ result: true });
  expect(asked).toBe(3);
});
