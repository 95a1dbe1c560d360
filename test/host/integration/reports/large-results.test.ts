// @module-tag slow
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Project, startProject } from '../../../helpers/project.ts';

let project: Project;

const hosts = Array.from({ length: 6 }, (_, at) => `web${at + 1}`);
const line = 'a line of the text, and é "quoted"';
const lines = 600_000;
const whole = lines * (line.length + 1);

beforeAll(async () => {
  project = await startProject({
    files: {
      'states/_modules/big.ts': `/** Returns a long text. */
export const text = () => ${JSON.stringify(`${line}\n`)}.repeat(${lines});
/** Returns many small values. */
export const list = () => Array.from({ length: 150_000 }, (_, id) => ({ id, name: 'some name ' + id }));
`,
    },
  });
  const entry = project.hosts.web1?.entry ?? '';
  project.roster(hosts.map(id => entry.replace('web1:', `${id}:`)).join(''));
  writeFileSync(
    join(project.dir, 'peak.cjs'),
    "process.on('exit', () => require('fs').writeFileSync('peak', String(process.resourceUsage().maxRSS)));\n",
  );
  // The one-time build is not measured.
  await project.run('web1', 'big.text', '--out=quiet');
});
afterAll(() => project.close());

const megabytes = (): number => Number(readFileSync(join(project.dir, 'peak'), 'utf8')) / 1024;

const runLarge = (...args: string[]) =>
  project.runWith(
    { env: { NODE_OPTIONS: `--require ${join(project.dir, 'peak.cjs')}` } },
    ...['*', ...args, '--out-file=out'],
  );

const written = (): string => readFileSync(join(project.dir, 'out'), 'utf8');

test('json and ndjson of 20 MB from each host lose nothing, in less than 300 MB', async () => {
  const json = await runLarge('big.text', '--static', '--out=json');
  expect([json.code, json.stderr]).toEqual([0, '']);
  expect(megabytes()).toBeLessThan(300);
  const results = JSON.parse(written()) as Record<string, string>;
  expect(Object.keys(results).toSorted()).toEqual(hosts);
  for (const text of Object.values(results)) {
    expect(text.length).toBe(whole);
    expect(text.endsWith(`${line}\n`)).toBe(true);
  }

  const ndjson = await runLarge('big.text', '--out=ndjson');
  expect([ndjson.code, ndjson.stderr]).toEqual([0, '']);
  expect(megabytes()).toBeLessThan(300);
  const values = written()
    .trimEnd()
    .split('\n')
    .map(text => JSON.parse(text))
    .filter(({ type }) => type === 'host')
    .map(({ result: { value } }) => value.length);
  expect(values).toEqual(hosts.map(() => whole));
}, 240_000);

test.each(['json', 'nested'])(
  '%s of 20 MB from each of 20 hosts takes less than 300 MB, too',
  async out => {
    const many = Array.from({ length: 20 }, (_, at) => `many${at + 1}`);
    const entry = project.hosts.web1?.entry ?? '';
    project.write({ many: many.map(id => entry.replace('web1:', `${id}:`)).join('') });
    const all = ['--roster-file', 'many', 'big.text', '--static', `--out=${out}`];
    const { code } = await runLarge(...all);
    expect(code).toBe(0);
    expect(megabytes()).toBeLessThan(300);
    expect(statSync(join(project.dir, 'out')).size).toBeGreaterThan(
      many.length * (out === 'json' ? whole : 900_000),
    );
  },
  240_000,
);

test.each(['yaml', 'nested', 'txt', 'highstate', 'pprint'])(
  '%s of 20 MB from each host is cut with a mark in less than 300 MB, and says so',
  async out => {
    const { code, stderr } = await runLarge('big.text', '--static', `--out=${out}`);
    expect(code).toBe(0);
    expect(megabytes()).toBeLessThan(300);
    for (const id of hosts)
      expect(stderr).toContain(`${id}: the result is too large for this output.`);
    expect(written().match(/\[cut\]/g)).toHaveLength(hosts.length);
    expect(statSync(join(project.dir, 'out')).size).toBeGreaterThan(hosts.length * 900_000);
  },
  120_000,
);

test('json of many small values from each host loses nothing, in less than 300 MB', async () => {
  const { code, stderr } = await runLarge('big.list', '--static', '--out=json');
  expect([code, stderr]).toEqual([0, '']);
  expect(megabytes()).toBeLessThan(300);
  const results = JSON.parse(written()) as Record<string, { id: number }[]>;
  for (const list of Object.values(results)) expect(list).toHaveLength(150_000);
}, 240_000);
