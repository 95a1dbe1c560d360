import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Project, startProject } from '../../../helpers/project.ts';

let project: Project;
const target = (name = ''): string => join(project.dir, 'target', name);

/** A number from 0 up to below `limit`, the same in each run. */
let last = 12_345;
const random = (limit: number): number => {
  last = (last * 1_103_515_245 + 12_345) % 2_147_483_648;
  return Math.floor((last / 2_147_483_648) * limit);
};

const kinds = ['require', 'require_in', 'onchanges', 'onchanges_any', 'prereq', 'onfail'];

/** Makes an SLS of templates. Requisites name earlier states, so that there are no cycles. */
const graph = (count: number): string =>
  Array.from({ length: count }, (_, at) => {
    const links = at === 0 ? 0 : random(3);
    const requisites = Array.from(
      { length: links },
      () => `    - ${kinds[random(kinds.length)]}:\n      - file: f${random(at)}\n`,
    );
    return `f${at}:
  file.managed:
    - name: {{ grains.folder }}/f${at}
    - source: salt://${random(20) === 0 ? 'none' : random(8) === 0 ? 'asks' : 'one'}.j2
    - template: jinja
    - makedirs: true
    - context: {number: ${at}}
${random(10) === 0 ? `    - order: ${random(count)}\n` : ''}${[...new Set(requisites)].join('')}`;
  }).join('');

beforeAll(async () => {
  project = await startProject({
    hosts: [],
    files: {
      'states/one.j2': 'number {{ number }}\n',
      'states/asks.j2': "number {{ number }} {{ salt['file.basename']('/a/b') }}\n",
      'states/slow.j2':
        '{% for a in range(80) %}{% for b in range(50000) %}{% if b == 5 %}{{ number }}{% endif %}{% endfor %}{% endfor %}\n',
      'states/slow.sls': `#!jinja|yaml
{% for number in range(120) %}
{{ grains.folder }}/s{{ number }}:
  file.managed:
    - source: salt://{{ 'slow' if number == 119 else 'one' }}.j2
    - template: jinja
    - makedirs: true
    - context: {number: {{ number }}}
{% endfor %}
`,
      'states/graph.sls': `#!jinja|yaml\n${graph(220)}`,
    },
  });
  project.write({ 'tsalt.yaml': `cachedir: cache\ngrains: {folder: ${target()}}\n` });
});
afterAll(() => project.close());

test('states run while templates of later ones are still rendered', { tags: 'slow' }, async () => {
  const { code, stderr, stdout } = await project.run('@local', 'state.apply', 'slow');
  expect(code, stderr + stdout).toBe(0);
  const times = Array.from({ length: 120 }, (_, at) => statSync(target(`s${at}`)).mtimeMs);
  const pauses = times.slice(1).map((time, at) => time - (times[at] ?? 0));
  // The slow template takes half a second or more; a state of itself some milliseconds.
  expect(Math.max(...pauses)).toBeGreaterThan(200);
});

type Results = Record<string, Record<string, { readonly [key: string]: unknown }>>;

/** Results without what time decides. */
const resultsIn = (text: string) =>
  Object.entries(Object.values(JSON.parse(text) as Results)[0] ?? {})
    .map(([tag, { __run_num__, result, comment, changes }]) => ({
      tag,
      __run_num__,
      result,
      comment,
      changes,
    }))
    .toSorted((a, b) => Number(a.__run_num__) - Number(b.__run_num__));

test('a run whose templates arrive while it runs has the results and the order of one that had all', {
  tags: 'slow',
}, async () => {
  const args = ['@local', 'state.apply', 'graph'];
  const meanwhile = await project.run(...args, '--out=json', '--static');
  rmSync(target(), { recursive: true });
  const plan = await project.run(...args, '--plan-out', 'graph.plan');
  expect(plan.stderr).not.toContain('Error');
  // A run by plan compares all hashes of templates before it begins.
  const before = await project.run('apply', 'graph.plan', '--out=json', '--static');
  const results = resultsIn(meanwhile.stdout);
  expect(results.length).toBeGreaterThan(200);
  for (const result of [true, false]) expect(results.map(state => state.result)).toContain(result);
  expect(results).toEqual(resultsIn(before.stdout));
});
