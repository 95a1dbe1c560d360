import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Project, startProject } from '../../../helpers/project.ts';

let project: Project;

beforeAll(async () => {
  project = await startProject({
    hosts: ['web1', 'web2'],
    files: {
      'states/web.sls': `#!jinja|yaml
folder:
  file.directory:
    - name: {{ grains.root }}/conf
config:
  file.managed:
    - name: {{ grains.root }}/conf/app
    - contents: {{ pillar.get('value', 'one') }}
    - tags: [config]
    - require: [{file: folder}]
restart:
  cmd.run:
    - name: echo restarted >> {{ grains.root }}/restarts
    - onchanges: [{file: config}]
slow:
  cmd.run:
    - name: touch {{ grains.root }}/slow
    - tags: slow, optional
last:
  test.nop:
    - tags: [check]
    - require: [{cmd: slow}]
`,
      'states/site.sls': `include: [parts.a: {tags: [part]}]
tags: [whole]
kept:
  seen.arguments: [{more: 1}]
`,
      'states/parts/a.sls': 'part:\n  seen.arguments: [{tags: [own]}]\n',
      'states/_states/seen.ts': `export const arguments_ = (name: string, kwargs: Record<string, unknown>) =>
  ({ name, result: true, changes: {}, comment: Object.keys(kwargs).join() });
export const __func_alias__ = { arguments_: 'arguments' };
`,
    },
  });
});
afterAll(() => project.close());

const root = (): string => project.hosts.web1?.root ?? '';

type Results = { web1: Record<string, { __id__: string; result: boolean }> };

const idsOf = async (...options: string[]): Promise<string[]> => {
  const run = await project.run('web1', 'state.apply', 'web', '--out', 'json', ...options);
  expect(run.code, run.stdout + run.stderr).toBe(0);
  const results = (run.json() as Results).web1;
  expect(Object.values(results).every(({ result }) => result)).toBe(true);
  return Object.values(results).map(({ __id__ }) => __id__);
};

test('a selected state brings what it requires and what reacts to it', {
  tags: 'slow',
}, async () => {
  const { stdout } = await project.run('web1', 'state.apply', 'web', '--only', 'config');
  expect(stdout).toContain('Total states run:     3');
  expect(stdout).toMatch(/Left out: +2\n/);
  expect(readFileSync(join(root(), 'restarts'), 'utf8')).toBe('restarted\n');
  expect(existsSync(join(root(), 'slow'))).toBe(false);
});

test('tags, ranges and --no-deps select', { tags: 'slow' }, async () => {
  expect(await idsOf('--tags', 'config', "pillar={'value': 'two'}")).toEqual([
    'folder',
    'config',
    'restart',
  ]);
  expect(readFileSync(join(root(), 'restarts'), 'utf8')).toBe('restarted\nrestarted\n');
  expect(await idsOf('--skip-tags', 'optional')).toEqual(['folder', 'config', 'restart', 'last']);
  expect(await idsOf('--only', 'last', '--no-deps')).toEqual(['last']);
  expect(existsSync(join(root(), 'slow'))).toBe(false);
  expect(await idsOf('--until', 'folder', '--skip', 'config')).toEqual(['folder']);
  expect(await idsOf('--from', 'slow')).toEqual(['slow', 'last']);
});

test('tags of an SLS and of an include select, and no module sees them', {
  tags: 'slow',
}, async () => {
  const commentsOf = async (tag: string) => {
    const run = await project.run('web1', 'state.apply', 'site', '--tags', tag, '--out', 'json');
    expect(run.code, run.stdout + run.stderr).toBe(0);
    const results = (run.json() as { web1: Record<string, { __id__: string; comment: string }> })
      .web1;
    return Object.values(results).map(({ __id__, comment }) => [__id__, comment]);
  };
  expect(await commentsOf('whole')).toEqual([['kept', 'more']]);
  expect(await commentsOf('part')).toEqual([['part', '']]);
  expect(await commentsOf('own')).toEqual([['part', '']]);
});

test('a plan has the selected states only', async () => {
  const file = join(project.dir, 'run.plan');
  const plan = ['web1', 'state.apply', 'web', '--only', 'config', '--skip', 'restart'];
  const made = await project.run(...plan, '--plan-out', file, "pillar={'value': 'three'}");
  expect(made.code, made.stderr).toBe(0);
  const applied = await project.run('apply', file, '--out', 'json');
  const ids = Object.values((applied.json() as Results).web1).map(({ __id__ }) => __id__);
  expect(ids).toEqual(['folder', 'config']);
});

test('a selection of nothing fails, on each host, with the nearest name', async () => {
  const lost = await project.run('*', 'state.apply', 'web', '--only', 'confg');
  expect(lost.code).toBe(65);
  expect(lost.stdout + lost.stderr).toContain("Did you mean 'config'?");
});

test.each([
  [['test.ping', '--only', 'a'], "--only selects states; 'test.ping' runs none"],
  [['state.apply', '--no-deps'], '--no-deps has no effect without a selection'],
  [['state.apply', '--tags', ''], '--tags needs a value'],
])('%j is refused before any connection', async (call, message) => {
  const { code, stderr } = await project.run('*', ...call);
  expect(code).toBe(64);
  expect(stderr).toContain(message);
});
