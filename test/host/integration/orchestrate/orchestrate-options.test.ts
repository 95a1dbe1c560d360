// @module-tag slow
import { existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Project, startProject } from '../../../helpers/project.ts';

const ids = ['db1', 'web1', 'web2', 'web3'];
let project: Project;

const files = {
  'states/orch/site.sls': `database:
  salt.state:
    - tgt: db1
    - sls: mark
    - tags: [data]
web servers:
  salt.state:
    - tgt: 'web*'
    - sls: mark
    - require: [{salt: database}]
checked:
  salt.function:
    - name: test.ping
    - tgt: 'web*'
    - require: [{salt: web servers}]
`,
  'states/mark.sls': `#!jinja|yaml
may this host work:
  cmd.run:
    - name: test ! -e {{ grains.root }}/broken
echo x >> {{ grains.root }}/marks:
  cmd.run:
    - require: [{cmd: may this host work}]
`,
};

beforeAll(async () => {
  project = await startProject({ hosts: ids, files });
});
afterAll(() => project.close());
beforeEach(() => {
  for (const id of ids)
    for (const file of ['marks', 'broken']) rmSync(join(rootOf(id), file), { force: true });
});

const rootOf = (id: string): string => project.hosts[id]?.root ?? '';
const marks = (): number[] =>
  ids.map(id => {
    const path = join(rootOf(id), 'marks');
    return existsSync(path) ? readFileSync(path, 'utf8').split('\n').length - 1 : 0;
  });
const site = (...words: string[]) => project.run('--orch', 'orch.site', ...words);
const break_ = (id: string): void => writeFileSync(join(rootOf(id), 'broken'), '');

test('--only runs a step with what it requires, --no-deps without; the rest can be resumed', async () => {
  const only = await site('--only', 'database');
  expect({ code: only.code, marks: marks() }).toEqual({ code: 0, marks: [1, 0, 0, 0] });
  const [, jid = ''] = /--resume (\d{20}) runs the others/.exec(only.stderr) ?? [];
  const rest = await site('--resume', jid);
  expect({ code: rest.code, marks: marks() }).toEqual({ code: 0, marks: [1, 1, 1, 1] });

  const alone = await site('--only', 'web servers', '--no-deps');
  expect({ code: alone.code, marks: marks() }).toEqual({ code: 0, marks: [1, 2, 2, 2] });
  const required = await site('--only', 'web servers');
  expect({ code: required.code, marks: marks() }).toEqual({ code: 0, marks: [2, 3, 3, 3] });
});

test('--skip, --tags, --from and --until choose steps, and none of the states on hosts', async () => {
  expect((await site('--skip', 'database')).code).toBe(0);
  expect(marks()).toEqual([0, 1, 1, 1]);
  expect((await site('--tags', 'data')).code).toBe(0);
  expect(marks()).toEqual([1, 1, 1, 1]);
  expect((await site('--until', 'database')).code).toBe(0);
  expect((await site('--from', 'checked', '--no-deps')).code).toBe(0);
  expect(marks()).toEqual([2, 1, 1, 1]);
  const nothing = await site('--only', 'may this host work');
  expect(nothing.code).not.toBe(0);
  expect(marks()).toEqual([2, 1, 1, 1]);
});

test('--limit, --max-fail and -b hold for the hosts of each step', async () => {
  expect((await site('--limit', 'db1 or web2')).code).toBe(0);
  expect(marks()).toEqual([1, 0, 1, 0]);
  break_('web1');
  const stopped = await site('-b', '1', '--max-fail', '1');
  expect(stopped.code).toBe(20);
  expect(marks()).toEqual([2, 0, 1, 0]);
  expect(stopped.stderr).toContain('Not started, since');
});

test('--guard goes to the states of steps, and the run is confirmed', async () => {
  const guarded = await site('--guard', '60');
  expect({ code: guarded.code, marks: marks() }).toEqual({ code: 0, marks: [1, 1, 1, 1] });
});

test('--guard says at once why a run cannot be guarded', async () => {
  const large = join(project.dir, 'large');
  writeFileSync(large, '');
  truncateSync(large, 65 * 1024 * 1024);
  project.write({
    'tsalt.yaml': `known_hosts_file: known_hosts\ncachedir: cache\nguard_paths: [${large}]\n`,
  });
  try {
    const { code, stdout } = await project.run('db1', 'state.apply', 'mark', '--guard', '60');
    expect(stdout).toContain(
      `The run cannot be guarded: ${large} and the other files for the rollback take more than 64 MiB.`,
    );
    expect({ code, marks: marks() }).toEqual({ code: 69, marks: [0, 0, 0, 0] });
  } finally {
    project.write({ 'tsalt.yaml': 'known_hosts_file: known_hosts\ncachedir: cache\n' });
  }
});

test('--rerun failed runs the steps that did not finish', async () => {
  break_('web2');
  const failed = await site();
  expect({ code: failed.code, marks: marks() }).toEqual({ code: 20, marks: [1, 1, 0, 1] });
  rmSync(join(rootOf('web2'), 'broken'));
  const again = await project.run('--rerun', 'failed');
  expect({ code: again.code, marks: marks() }).toEqual({ code: 0, marks: [1, 2, 1, 2] });
  const none = await project.run('--rerun', 'failed');
  expect(none.code).toBe(64);
});

test('reports have the steps, and what failed on which host', async () => {
  break_('web2');
  const names = ['report.html', 'report.xml', 'report.json', 'report.md'];
  const [html = '', xml = '', json = '', md = ''] = names;
  await site(`--report=html=${html},junit=${xml},json=${json},markdown=${md}`);
  for (const name of names) {
    const text = readFileSync(join(project.dir, name), 'utf8');
    expect({ name, named: text.includes('Run failed on minions: web2') }).toEqual({
      name,
      named: true,
    });
    expect({ name, host: text.includes('may this host work') }).toEqual({ name, host: true });
  }
});
