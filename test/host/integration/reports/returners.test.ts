// @module-tag slow
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Project, startProject } from '../../../helpers/project.ts';

const hasSqlite = ['/usr/bin', '/bin', '/usr/local/bin'].some(dir =>
  existsSync(join(dir, 'sqlite3')),
);

type Ret = {
  jid: string;
  id: string;
  fun: string;
  fun_args: unknown[];
  return: unknown;
  retcode: number;
  success: boolean;
  _stamp: string;
};

let project: Project;
let server: Server;
let url = '';
let requests: { path: string; headers: IncomingMessage['headers']; body: string }[] = [];
let answer: { status: number; headers?: Record<string, string> } | 'none' = { status: 200 };

const config = (more: object): void => {
  const given = { known_hosts_file: 'known_hosts', cachedir: 'cache', ...more };
  project.write({ 'tsalt.yaml': JSON.stringify(given) });
};

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = '';
    request.on('data', chunk => {
      body += chunk;
    });
    request.on('end', () => {
      requests.push({ path: request.url ?? '', headers: request.headers, body });
      if (answer !== 'none') response.writeHead(answer.status, answer.headers).end('{}');
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  project = await startProject({
    hosts: ['web1', 'web2'],
    files: {
      'states/site.sls': `#!jinja|yaml
conf:
  file.managed:
    - name: {{ grains.root }}/conf
    - contents: made
hidden:
  cmd.run:
    - name: printf 'hunter%s' 22
    - no_log: true
fails:
  test.configurable_test_state:
    - changes: False
    - result: {{ grains.id == 'web1' }}
    - comment: "it's '); DROP TABLE salt_returns;--"
`,
      'states/_returners/mine.ts': `import { appendFileSync } from 'node:fs';
export const save_load = (jid: string, load: object): void =>
  appendFileSync('${'LOG'}', JSON.stringify({ jid, load }) + '\\n');
export const returner = async (ret: { id: string }): Promise<void> => {
  if (ret.id === process.env.REFUSED) throw new Error('the store is full');
  if (ret.id === process.env.ENDLESS) await new Promise(() => undefined);
  appendFileSync('${'LOG'}', JSON.stringify(ret) + '\\n');
};
`,
      'states/_returners/broken.ts': 'export const other = 1;\n',
    },
  });
  const path = join(project.dir, 'states/_returners/mine.ts');
  writeFileSync(
    path,
    readFileSync(path, 'utf8').replaceAll('LOG', join(project.dir, 'returns.log')),
  );
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise(resolve => server.close(resolve));
  await project.close();
});
beforeEach(() => {
  requests = [];
  answer = { status: 200 };
  config({});
});
afterEach(() => server.closeAllConnections());

const rows = (sql: string): unknown[] => {
  const file = join(project.dir, 'cache/returns.db');
  const text = execFileSync('sqlite3', ['-json', file, sql], { encoding: 'utf8' });
  return text === '' ? [] : (JSON.parse(text) as unknown[]);
};

test.skipIf(!hasSqlite)("sqlite has Salt's tables, with the returns of each run", async () => {
  const first = await project.run('*', 'state.apply', 'site', '--return', 'sqlite', '--out=quiet');
  expect(first).toMatchObject({ code: 20, stderr: '' });
  await project.run('web1', 'test.arg', "it's", 'password=hunter33', '--return', 'sqlite');
  expect(statSync(join(project.dir, 'cache/returns.db')).mode & 0o777).toBe(0o600);
  expect(rows('SELECT id, fun, success FROM salt_returns ORDER BY fun, id')).toEqual([
    { id: 'web1', fun: 'state.apply', success: 'True' },
    { id: 'web2', fun: 'state.apply', success: 'False' },
    { id: 'web1', fun: 'test.arg', success: 'True' },
  ]);
  expect(rows('SELECT count(*) AS jobs FROM jids')).toEqual([{ jobs: 2 }]);
  const [{ full_ret }] = rows("SELECT full_ret FROM salt_returns WHERE id = 'web1'") as [
    { full_ret: string },
  ];
  const ret = JSON.parse(full_ret) as Ret;
  expect(ret).toMatchObject({
    id: 'web1',
    fun: 'state.apply',
    fun_args: ['site'],
    retcode: 0,
    success: true,
  });
  expect(full_ret).toContain("it's '); DROP TABLE");
  const all = readFileSync(join(project.dir, 'cache/returns.db'), 'latin1');
  expect(all).not.toContain('hunter22');
  const calls = rows('SELECT fun_args FROM salt_returns UNION SELECT load FROM jids');
  expect(JSON.stringify(calls)).toContain('***');
  expect(JSON.stringify(calls)).not.toContain('hunter33');
});

test('webhook posts returns as JSON, with headers of the configuration', async () => {
  config({
    ext_job_cache: 'webhook',
    returners: { webhook: { url: `${url}/salt`, headers: { Authorization: 'sdb://store/token' } } },
    store: { driver: 'yaml', files: ['store.yaml'] },
  });
  project.write({ 'store.yaml': 'token: Bearer 4711\n' });
  expect((await project.run('*', 'test.ping')).code).toBe(0);
  expect(
    requests.every(
      ({ path, headers }) => path === '/salt' && headers.authorization === 'Bearer 4711',
    ),
  ).toBe(true);
  const bodies = requests.map(
    ({ body }) => JSON.parse(body) as { load: { fun: string; tgt: string }; returns: Ret[] },
  );
  expect(bodies[0]?.load).toMatchObject({ fun: 'test.ping', tgt: '*' });
  expect(
    bodies.flatMap(({ returns }) => returns.map(({ id, return: value }) => [id, value])).toSorted(),
  ).toEqual([
    ['web1', true],
    ['web2', true],
  ]);
  expect((await project.run('web1', 'config.get', 'returners')).stdout).not.toContain('sdb');
});

test.each([
  ['an error of the server', { status: 500 }, 'answered 500'],
  [
    'a redirect, which is not followed',
    { status: 302, headers: { location: '/elsewhere' } },
    'answered 302',
  ],
  ['no answer', 'none' as const, 'could not be reached (no answer within 4 s)'],
])('a webhook fails (%s): the run does not', async (_, how, message) => {
  const before = performance.now();
  await project.run('*', 'test.ping');
  const began = performance.now();
  const alone = began - before;
  answer = how;
  config({ returners: { webhook: { url } } });
  const { code, stdout, stderr } = await project.run(
    '*',
    'test.ping',
    '--return=webhook,mine',
    '--out=json',
    '--static',
  );
  expect({ code, answer: JSON.parse(stdout) }).toEqual({
    code: 0,
    answer: { web1: true, web2: true },
  });
  expect(stderr).toContain(`The returner webhook failed: ${url} ${message}`);
  expect(stderr).toContain('did not get the returns of 2 hosts');
  expect(requests.some(({ path }) => path === '/elsewhere')).toBe(false);
  // Returners have 10 s after a run; all attempts together would take 25 s.
  expect(performance.now() - began).toBeLessThan(13_000 + 4 * alone);
});

test('otlp sends a trace: a span for the run, each host and each state, without values', async () => {
  config({ returners: { otlp: { endpoint: `${url}/v1/traces`, headers: { 'x-key': 'abc' } } } });
  const { stderr } = await project.run(
    '*',
    'state.apply',
    'site',
    '--return',
    'otlp',
    '--out=quiet',
  );
  expect(stderr).toBe('');
  expect(
    requests.every(({ path, headers }) => path === '/v1/traces' && headers['x-key'] === 'abc'),
  ).toBe(true);
  type Span = {
    name: string;
    spanId: string;
    parentSpanId?: string;
    traceId: string;
    status: { code?: number };
    startTimeUnixNano: string;
    endTimeUnixNano: string;
  };
  const spans = requests.flatMap(({ body }) =>
    (
      JSON.parse(body) as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] }
    ).resourceSpans.flatMap(one => one.scopeSpans.flatMap(scope => scope.spans)),
  );
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  const run = spans.find(({ name }) => name === 'state.apply');
  const hosts = spans.filter(({ name }) => name.startsWith('host '));
  expect(
    hosts
      .map(({ name, status, parentSpanId }) => [name, status.code === 2, parentSpanId])
      .toSorted(),
  ).toEqual([
    ['host web1', false, run?.spanId],
    ['host web2', true, run?.spanId],
  ]);
  const states = spans.filter(({ parentSpanId }) =>
    hosts.some(({ spanId }) => spanId === parentSpanId),
  );
  expect(states.map(({ name }) => name).toSorted()).toEqual(
    ['cmd.run', 'file.managed', 'test.configurable_test_state'].flatMap(name => [name, name]),
  );
  for (const span of spans)
    expect(BigInt(span.endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(span.startTimeUnixNano));
  expect(requests.map(({ body }) => body).join('')).not.toMatch(/hunter22|DROP TABLE/);
});

test('a returner of yours is called with the job, then for each host', async () => {
  const log = join(project.dir, 'returns.log');
  writeFileSync(log, '');
  await project.run('*', 'grains.get', 'id', '--return', 'mine');
  const lines = readFileSync(log, 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as Ret & { load?: object });
  expect(lines[0]?.load).toMatchObject({ fun: 'grains.get', arg: ['id'], tgt_type: 'glob' });
  expect(
    lines
      .slice(1)
      .map(({ id, return: value, success }) => [id, value, success])
      .toSorted(),
  ).toEqual([
    ['web1', 'web1', true],
    ['web2', 'web2', true],
  ]);
});

test.each([
  ['throws', { REFUSED: 'web1' }, 'The returner mine failed: the store is full'],
  ['never ends', { ENDLESS: 'web1' }, 'The returner mine failed: no end within 5 s'],
])(
  'a returner of yours that %s does not fail the run',
  async (_, env, message) => {
    const { code, stderr } = await project.runWith(
      { env },
      'web1',
      'test.ping',
      '--return',
      'mine',
    );
    expect(code).toBe(0);
    expect(stderr).toContain(message);
  },
  20_000,
);

test.each([
  ['sqlit', "Did you mean 'sqlite'?"],
  ['nothing-like-it', 'The returners are sqlite, webhook, otlp, broken, mine'],
  ['broken', "it exports no function 'returner'"],
  ['webhook', 'The returner webhook needs a URL'],
])('--return %s is refused before any host', async (name, message) => {
  const { code, stderr, stdout } = await project.run('*', 'test.ping', '--return', name);
  expect({ code, stderr, stdout }).toEqual({
    code: 64,
    stderr: expect.stringContaining(message),
    stdout: '',
  });
});
