// @module-tag slow
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { PlainDict } from '../../../../src/protocol/plain.ts';
import { canCount, countRuns } from '../../../helpers/host-counts.ts';
import { type Project, startProject } from '../../../helpers/project.ts';

/** A run after which nothing read its grains does without them the next time. */
describe.skipIf(!canCount)('grains that nothing reads (needs strace)', () => {
  let project: Project;
  let run: ReturnType<typeof countRuns>;

  beforeAll(async () => {
    project = await startProject({ hosts: [] });
    project.write({ 'tsalt.yaml': `cachedir: cache\ngrains: {folder: ${project.dir}/target}\n` });
    run = countRuns(project);
    await project.run('@local', 'test.ping');
  });
  afterAll(() => project?.close());

  const state = (...lines: string[]): string =>
    `#!jinja|yaml\n{{ grains.folder }}/made:\n  file.managed:\n    - makedirs: true\n${lines
      .map(line => `    - ${line}\n`)
      .join('')}`;

  /** The run's result, and whether the host collected its grains. */
  const apply = async (name: string, ...args: string[]) => {
    const { counts, result } = await run('state.apply', name, ...args);
    expect(result.stderr).toBe('');
    expect(result.code).toBe(0);
    return { collects: counts.opened.includes('/etc/machine-id') };
  };
  const collects = async (...args: [string, ...string[]]): Promise<boolean> =>
    (await apply(...args)).collects;
  const made = (): string => readFileSync(join(project.dir, 'target/made'), 'utf8').trim();

  const keptFile = (): string => {
    const folder = join(project.dir, 'cache/grains');
    const [name = ''] = readdirSync(folder);
    return join(folder, name);
  };
  const changeKept = (
    change: (kept: { grains: PlainDict; collected: number }) => unknown,
  ): void => {
    const kept = JSON.parse(readFileSync(keptFile(), 'utf8'));
    change(kept);
    writeFileSync(keptFile(), JSON.stringify(kept));
  };

  beforeEach(async () => {
    project.write({ 'states/made.sls': state('contents: one') });
    await project.run('@local', 'file.remove', `${project.dir}/target`);
    // It forgets what earlier runs of this state did.
    changeKept(kept => Object.assign(kept, { unread: [], useless: [] }));
    expect(await collects('made')).toBe(true);
    expect(made()).toBe('one');
    expect(await collects('made')).toBe(false);
  });

  test('a run does without them, whether it changes something or not', async () => {
    project.write({ 'states/made.sls': state('contents: two') });
    expect(await collects('made')).toBe(false);
    expect(made()).toBe('two');
    expect(await collects('made', 'test=true')).toBe(true);
    expect(await collects('made')).toBe(false);
  });

  test('a directory is made without them', async () => {
    const directory = `{{ grains.folder }}/new/folder:\n  file.directory:\n    - makedirs: true\n`;
    project.write({ 'states/made.sls': `${state('contents: one')}${directory}` });
    expect(await collects('made')).toBe(false);
    expect(statSync(join(project.dir, 'target/new/folder')).isDirectory()).toBe(true);
    expect(await collects('made')).toBe(false);
  });

  test('an SLS that reads one now gets those of the host, not those of an earlier run', async () => {
    changeKept(kept => Object.assign(kept.grains, { kernel: 'Plan9' }));
    project.write({ 'states/made.sls': state("contents: {{ grains['kernel'] }}") });
    expect(await collects('made')).toBe(true);
    expect(made()).toBe('Linux');
    // The next run has them from the beginning.
    expect(JSON.parse(readFileSync(keptFile(), 'utf8'))).toMatchObject({
      grains: { kernel: 'Linux' },
    });
    expect(JSON.parse(readFileSync(keptFile(), 'utf8'))).not.toHaveProperty('unread');
  });

  test('a function that a state calls has them', async () => {
    project.write({ 'states/made.sls': state('contents_grains: kernel') });
    expect(await collects('made')).toBe(true);
    expect(made()).toBe('Linux');
    expect(await collects('made')).toBe(true);
  });

  test('a template that is rendered while its state runs has them', async () => {
    const lines = ['source: salt://made.jinja', 'template: jinja'];
    project.write({
      'states/made.sls': state(...lines),
      'states/made.jinja': "{{ salt['cmd.run']('echo two') }}\n",
    });
    await apply('made');
    changeKept(kept => Object.assign(kept.grains, { kernel: 'Plan9' }));
    project.write({
      'states/made.jinja': "{{ salt['cmd.run']('echo two') }} {{ grains.kernel }}\n",
    });
    expect(await collects('made')).toBe(true);
    expect(made()).toBe('two Linux');
  });

  test('a template that is rendered after the first states began has them', async () => {
    const count = 400;
    const files = Array.from(
      { length: count },
      (_, at) => `{{ grains.folder }}/many/f${at}:
  file.managed:
    - source: salt://many.jinja
    - template: jinja
    - makedirs: true
    - context: {number: ${at}}
`,
    );
    project.write({
      'states/made.sls': files.join(''),
      'states/many.jinja':
        '{% for i in range(9999) %}{% if i == -1 %}{% endif %}{% endfor %}{{ number }}\n',
    });
    await apply('made');
    changeKept(kept => Object.assign(kept.grains, { kernel: 'Plan9' }));
    project.write({
      'states/many.jinja': `{% for i in range(9999) %}{% if i == -1 %}{% endif %}{% endfor %}{{ number }} {% if number > ${count - 20} %}{{ grains.kernel }}{% endif %}\n`,
    });
    // Without strace, the host says hello while the control node still renders.
    const { stderr } = await project.run('@local', 'state.apply', 'made');
    expect(stderr).toBe('');
    const last = readFileSync(join(project.dir, `target/many/f${count - 1}`), 'utf8').trim();
    expect(last).toBe(`${count - 1} Linux`);
  });

  test('conditions, which the shell of the host decides, have them', async () => {
    project.write({ 'states/made.sls': state('contents: two', 'unless: "false"') });
    expect(await collects('made')).toBe(true);
    expect(await collects('made')).toBe(true);
    expect(made()).toBe('two');
  });

  test('they are collected again after a day', async () => {
    changeKept(kept => {
      kept.collected -= 25 * 60 * 60 * 1000;
    });
    expect(await collects('made')).toBe(true);
    expect(await collects('made')).toBe(false);
  });

  test('a module of the user on the host has them', async () => {
    project.write({ 'states/_modules/mine.ts': 'export const one = () => 1;\n' });
    expect(await collects('made')).toBe(true);
  });
});
