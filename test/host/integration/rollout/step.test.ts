// @module-tag slow
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { packageRoot } from '../../../helpers/cli.ts';
import { type Project, startProject } from '../../../helpers/project.ts';

let project: Project;
const ids = ['web1', 'web2'];
const made = (id: string): string[] =>
  ['one', 'two', 'three', 'restarts'].filter(name => existsSync(file(id, name)));
const file = (id: string, name: string): string => join(project.hosts[id]?.root ?? '', name);

beforeAll(async () => {
  project = await startProject({
    hosts: ids,
    files: {
      'states/site.sls': `#!jinja|yaml
one:
  file.managed:
    - name: {{ grains.root }}/one
    - contents: first line
two:
  file.managed:
    - name: {{ grains.root }}/two
    - contents: second line
    - require: [{file: one}]
restarts:
  cmd.run:
    - name: echo restarted >> {{ grains.root }}/restarts
    - onchanges: [{file: two}]
fine:
  test.nop: []
hidden:
  file.managed:
    - name: {{ grains.root }}/three
    - contents: hunter22
    - no_log: true
`,
    },
  });
});
afterAll(() => project.close());
beforeEach(() => {
  for (const id of ids) for (const name of made(id)) rmSync(file(id, name));
});

const question = 'Run this state? [y]es, [n]o, [c]ontinue, [q]uit';

/** Runs at a terminal, with one answer to each question. */
const atTerminal = async (
  answers: readonly string[],
  ...args: string[]
): Promise<{ code: number | null; text: string; asked: number }> => {
  const words = [
    process.execPath,
    join(packageRoot, 'dist/tsalt-ssh.cjs'),
    '-c',
    project.dir,
    ...args,
  ];
  const line = words.map(word => `'${word}'`).join(' ');
  const child = spawn('script', ['-qefc', line, '/dev/null'], {
    env: { PATH: process.env.PATH, HOME: join(project.dir, 'home'), TERM: 'xterm', NO_COLOR: '1' },
  });
  let text = '';
  let asked = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk;
    // Input before a question does not answer it.
    if (text.split(question).length - 1 <= asked) return;
    child.stdin.write(`${answers[asked] ?? 'q'}\n`);
    asked += 1;
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  return { code, text, asked };
};

test('each state that would change something is shown and asked for; one that is declined does not run', async () => {
  const { code, text, asked } = await atTerminal(
    ['y', 'n', 'y'],
    'web1',
    'state.apply',
    'site',
    '--step',
    '--out=highstate',
  );
  expect({ code, asked }).toEqual({ code: 0, asked: 3 });
  expect(made('web1')).toEqual(['one', 'three']);
  expect(text).toMatch(/change: file\.managed \S+\/one/);
  expect(text).not.toContain('hunter22');
  expect(text).toContain('State was not run because it was declined (--step)');
  expect(text).toContain('none of the onchanges reqs changed');
  expect(text).toContain('Total states run:     5');

  const again = await atTerminal(['y', 'y'], 'web1', 'state.apply', 'site', '--step');
  expect({ code: again.code, asked: again.asked }).toEqual({ code: 0, asked: 2 });
  expect(again.text).toMatch(/change: cmd\.run echo restarted/);
  expect(readFileSync(file('web1', 'restarts'), 'utf8')).toBe('restarted\n');

  const third = await atTerminal([], 'web1', 'state.apply', 'site', '--step');
  expect({ code: third.code, asked: third.asked }).toEqual({ code: 0, asked: 0 });
}, 60_000);

test('hosts follow one another; after continue nothing more is asked', async () => {
  const { code, text, asked } = await atTerminal(['x', 'c'], '*', 'state.apply', 'site', '--step');
  expect({ code, asked }).toEqual({ code: 0, asked: 2 });
  expect(text.split('change: file.managed').length).toBe(2);
  expect(ids.map(made)).toEqual(ids.map(() => ['one', 'two', 'three', 'restarts']));
}, 60_000);

test('quit ends the run in order', async () => {
  const { code } = await atTerminal(['y', 'q'], '*', 'state.apply', 'site', '--step');
  expect(code).toBe(130);
  expect(ids.flatMap(made)).toEqual(['one']);
}, 60_000);

test.each([
  [['state.apply', 'site'], '--step needs a terminal'],
  [['test.ping'], 'is for runs of states'],
  [['state.apply', 'site', 'test=True'], 'exclude each other'],
  [['state.apply', 'site', '--ask', '--yes'], 'exclude each other'],
  [['state.apply', 'site', '--workers=2'], 'exclude each other'],
])('%j is refused with it before any host', async (call, message) => {
  const { code, stderr } = await project.run('*', ...call, '--step');
  expect({ code, stderr }).toEqual({ code: 64, stderr: expect.stringContaining(message) });
  expect(ids.flatMap(made)).toEqual([]);
});
