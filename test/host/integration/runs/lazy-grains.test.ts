// @module-tag slow
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { connect } from '../../../../src/library/index.ts';
import { type Project, startProject } from '../../../helpers/project.ts';

let project: Project;
const log = (): string => join(project.dir, 'collected');

/** How often the host has collected its grains since the last call. */
const collected = (): number => {
  const times = existsSync(log()) ? readFileSync(log(), 'utf8').length : 0;
  rmSync(log(), { force: true });
  return times;
};

beforeAll(async () => {
  project = await startProject({
    files: {
      'states/_grains/counted.ts': `import { appendFileSync } from 'node:fs';
export const counted = () => {
  appendFileSync(process.env.HOME + '/../../collected', '.');
  return { counted: 'told' };
};
`,
      'states/word.sls': `#!jinja|yaml
word:
  file.managed:
    - name: {{ grains.root }}/word
    - contents: {{ grains.counted }}
`,
    },
  });
  // The first run of a host keeps its grains.
  const { code, stderr } = await project.run('*', 'test.ping');
  expect(stderr).toBe('');
  expect(code).toBe(0);
  expect(collected()).toBe(1);
  return () => project.close();
});
afterEach(() =>
  project.write({ 'tsalt.yaml': 'known_hosts_file: known_hosts\ncachedir: cache\n' }),
);

const word = (): string => readFileSync(join(project.hosts.web1?.root ?? '', 'word'), 'utf8');

test.each([['test.ping'], ['test.echo', 'x'], ['test.version'], ['test.retcode', '3']])(
  '%s collects no grains',
  async (...call) => {
    const { stdout } = await project.run('*', ...call);
    expect(stdout).toContain('web1');
    expect(collected()).toBe(0);
  },
);

test.each([['test.attr_call'], ['test.cross_test', 'grains.items'], ['grains.items']])(
  '%s has all grains, also after a ping without them',
  async (...call) => {
    await project.run('*', 'test.ping');
    expect(collected()).toBe(0);
    const { stdout } = await project.run('*', ...call, '--out=json');
    expect(JSON.parse(stdout).web1).toMatchObject({ counted: 'told', kernel: 'Linux' });
    expect(collected()).toBe(1);
  },
);

test('states have grains after a ping without them', async () => {
  await project.run('*', 'test.ping');
  const { code } = await project.run('*', 'state.apply', 'word');
  expect(code).toBe(0);
  expect(word()).toBe('told\n');
  expect(collected()).toBe(1);
});

test('a session that pings and then applies states has grains', async () => {
  const options = { config: project.dir, env: { PATH: process.env.PATH }, target: '*' };
  const session = await connect(options);
  const ping = await session.run({ fun: 'test.ping' }).results();
  expect(ping).toMatchObject([{ value: true }]);
  rmSync(join(project.hosts.web1?.root ?? '', 'word'), { force: true });
  const [applied] = await session.run({ fun: 'state.apply', args: ['word'] }).results();
  expect(applied?.retcode).toBe(0);
  expect(word()).toBe('told\n');
  session.close();
});

test('a configured provider may be another module', async () => {
  project.write({
    'tsalt.yaml': 'known_hosts_file: known_hosts\ncachedir: cache\nproviders: {test: cmd}\n',
  });
  collected();
  await project.run('*', 'test.ping');
  expect(collected()).toBe(1);
});

test('modules of the user may wrap a function: all grains are there', async () => {
  project.write({ 'states/_modules/own.ts': 'export const one = () => 1;\n' });
  await project.run('*', 'test.ping');
  collected();
  const { stdout } = await project.run('*', 'test.ping');
  expect(stdout).toContain('True');
  expect(collected()).toBe(1);
  rmSync(join(project.dir, 'states/_modules'), { recursive: true });
});
