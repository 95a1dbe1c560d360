// @module-tag slow
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect, type RunEvent, type SessionOptions } from '../../../src/library/index.ts';
import { type Project, startProject } from '../../helpers/project.ts';

let project: Project;

beforeAll(async () => {
  project = await startProject({
    hosts: ['web1', 'web2'],
    files: {
      'states/word.sls': `#!jinja|yaml
word:
  file.managed:
    - name: {{ grains.root }}/word
    - contents: one
`,
      'states/slow.sls': `#!jinja|yaml
sleep:
  cmd.run:
    - name: sleep 20
`,
    },
  });
});
afterAll(() => project.close());

const options = (given: Partial<SessionOptions> = {}): SessionOptions => ({
  config: project.dir,
  env: { PATH: process.env.PATH },
  target: '*',
  ...given,
});

/** The process of the runtime on a host. */
const pidOf = async (
  session: Awaited<ReturnType<typeof connect>>,
  target: string,
): Promise<unknown> => {
  const [result] = await session.run({ target, fun: 'grains.get', args: ['pid'] }).results();
  return result?.value;
};

test('runs share a runtime, and its end ends with the session', async () => {
  const session = await connect(options());
  expect(session.logins.map(({ value }) => value)).toEqual([true, true]);
  const pid = await pidOf(session, 'web1');
  expect(pid).toEqual(expect.any(Number));
  expect(await pidOf(session, 'web1')).toBe(pid);
  const phases: string[] = [];
  for await (const event of session.run({ target: 'web1', fun: 'test.ping' }))
    if (event.type === 'phase') phases.push(event.phase);
  expect(phases).toEqual(['run', 'done']);
  session.close();
  await expect.poll(() => isAlive(Number(pid)), { timeout: 5000 }).toBe(false);
});

const isAlive = (pid: number): boolean => {
  try {
    return !execFileSync('ps', ['-o', 'stat=', '-p', String(pid)])
      .toString()
      .startsWith('Z');
  } catch {
    return false;
  }
};

test('states are read again in each run, and events and results belong to that run', async () => {
  const session = await connect(options({ target: 'web1' }));
  const apply = async (): Promise<readonly RunEvent[]> => {
    const events: RunEvent[] = [];
    for await (const event of session.run({ fun: 'state.apply', args: ['word'] }))
      events.push(event);
    return events;
  };
  const first = await apply();
  expect(first.filter(({ type }) => type === 'state')).toMatchObject([
    { result: { result: true, changes: { diff: 'New file' } } },
  ]);
  const file = join(project.dir, 'states/word.sls');
  writeFileSync(file, readFileSync(file, 'utf8').replace('one', 'two'));
  const second = await apply();
  expect(second.filter(({ type }) => type === 'state')).toMatchObject([
    { result: { result: true, changes: { diff: expect.stringContaining('+two') } } },
  ]);
  const third = await apply();
  expect(third.filter(({ type }) => type === 'state')).toMatchObject([
    { result: { result: true, changes: {} } },
  ]);
  session.close();
});

test('each run sees what has changed: templates, files that they import, pillar, roster, configuration', async () => {
  project.write({
    'states/made.sls': `#!jinja|yaml
made:
  file.managed:
    - name: {{ grains.root }}/made
    - source: salt://made.jinja
    - template: jinja
    - context: {number: {{ pillar.number }}}
`,
    'states/made.jinja':
      '{% from "words.jinja" import word %}a {{ word }} {{ number }} {{ grains.tint }}\n',
    'states/words.jinja': '{% set word = "b" %}\n',
    'pillar/top.sls': 'base: {"*": [numbers]}\n',
    'pillar/numbers.sls': 'number: 1\n',
  });
  const tint = (name: string): void => {
    const text = readFileSync(join(project.dir, 'roster.yaml'), 'utf8');
    const tinted = text.replace(/tint: \w+/g, `tint: ${name}`);
    const first = text.replace(/grains: \{/g, `grains: {tint: ${name}, `);
    project.write({ 'roster.yaml': text.includes('tint: ') ? tinted : first });
  };
  tint('red');
  const session = await connect(options({ target: 'web1' }));
  const made = async (): Promise<string> => {
    const [result] = await session.run({ fun: 'state.apply', args: ['made'] }).results();
    expect(result?.retcode).toBe(0);
    return readFileSync(join(project.hosts.web1?.root ?? '', 'made'), 'utf8');
  };
  expect(await made()).toBe('a b 1 red\n');
  expect(await made()).toBe('a b 1 red\n');
  project.write({ 'states/words.jinja': '{% set word = "c" %}\n' });
  expect(await made()).toBe('a c 1 red\n');
  project.write({ 'pillar/numbers.sls': 'number: 2\n' });
  expect(await made()).toBe('a c 2 red\n');
  tint('blue');
  expect(await made()).toBe('a c 2 blue\n');
  const template = readFileSync(join(project.dir, 'states/made.jinja'), 'utf8');
  project.write({ 'states/made.jinja': template.replace('a ', 'd ') });
  expect(await made()).toBe('d c 2 blue\n');
  project.write({ 'states/made.jinja': '{% set name = "e" %}\n{{ name }}\n' });
  expect(await made()).toBe('\ne\n');
  const config = readFileSync(join(project.dir, 'tsalt.yaml'), 'utf8');
  project.write({ 'tsalt.yaml': `${config}jinja_env: {trim_blocks: true}\n` });
  expect(await made()).toBe('e\n');
  project.write({ 'tsalt.yaml': config });
  session.close();
});

test('a changed module gets a new runtime', async () => {
  const session = await connect(options({ target: 'web1' }));
  project.write({ 'states/_modules/mine.ts': 'export const word = () => "first";\n' });
  const word = async (): Promise<unknown> =>
    (await session.run({ fun: 'mine.word' }).results())[0]?.value;
  expect(await word()).toBe('first');
  const pid = await pidOf(session, 'web1');
  expect(await pidOf(session, 'web1')).toBe(pid);
  project.write({ 'states/_modules/mine.ts': 'export const word = () => "second";\n' });
  expect(await word()).toBe('second');
  expect(await pidOf(session, 'web1')).not.toBe(pid);
  session.close();
});

test('a run whose runtime was killed in between logs in again', async () => {
  const session = await connect(options({ target: 'web1' }));
  const pid = Number(await pidOf(session, 'web1'));
  process.kill(pid, 'SIGKILL');
  await expect.poll(() => isAlive(pid)).toBe(false);
  await expect
    .poll(async () => (await session.run({ fun: 'test.ping' }).results())[0]?.value)
    .toBe(true);
  expect(await pidOf(session, 'web1')).not.toBe(pid);
  session.close();
});

test('aborting a run ends it on its host, and the session goes on', async () => {
  const session = await connect(options());
  const stop = new AbortController();
  const slow = session.run({
    target: 'web1',
    fun: 'state.apply',
    args: ['slow'],
    signal: stop.signal,
  });
  const begun = Date.now();
  for await (const event of slow) if (event.type === 'state-start') stop.abort();
  expect(Date.now() - begun).toBeLessThan(10_000);
  const results = await session.run({ fun: 'test.ping' }).results();
  expect(results.map(({ value }) => value)).toEqual([true, true]);
  session.close();
});

test('two runs at the same time on one host do not mix', async () => {
  const session = await connect(options({ target: 'web1' }));
  const answers = await Promise.all(
    ['a', 'b', 'c'].map(async word => {
      const [result] = await session.run({ fun: 'test.echo', args: [word] }).results();
      return result?.value;
    }),
  );
  expect(answers).toEqual(['a', 'b', 'c']);
  session.close();
});
