// @module-tag slow
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Project, startProject } from '../../../helpers/project.ts';

let project: Project;
let root = '';

beforeAll(async () => {
  project = await startProject();
  root = project.hosts.web1?.root ?? '';
});
afterAll(() => project.close());

type Result = { __id__: string; result: boolean | null; comment: string; changes: object };

const apply = async (...args: string[]) => {
  const { code, stdout, stderr } = await project.run('web1', ...args, '--out', 'json', '--static');
  try {
    const value = (JSON.parse(stdout) as { web1: Record<string, Result> }).web1;
    return { code, value, text: stdout + stderr };
  } catch {
    throw new Error(stdout + stderr);
  }
};

const idsOf = (value: Record<string, Result>): string[] =>
  Object.values(value).map(one => one.__id__);

const until = async (what: () => boolean, most = 60_000): Promise<void> => {
  const end = performance.now() + most;
  while (!what()) {
    if (performance.now() > end) throw new Error('It did not happen in time.');
    await new Promise(resolve => setTimeout(resolve, 50));
  }
};

test('a state with no_log shows nothing of what it did, in any output and event', async () => {
  project.write({
    'states/quiet.sls': `secret command:
  cmd.run:
    - name: echo t0psecret-out; echo t0psecret-err >&2; exit 3
    - no_log: true
${root}/secret-file:
  file.managed:
    - contents: t0psecret-content
    - no_log: true
`,
  });
  for (const output of ['highstate', 'json', 'ndjson', 'yaml', 'raw']) {
    const { code, stdout, stderr } = await project.run(
      'web1',
      'state.apply',
      'quiet',
      '--out',
      output,
    );
    expect(code, stdout + stderr).toBe(20);
    const names = (stdout + stderr).replaceAll(
      'echo t0psecret-out; echo t0psecret-err >&2; exit 3',
      '',
    );
    expect(names, output).not.toMatch(/t0psecret/);
  }
  const { value } = await apply('state.apply', 'quiet');
  for (const result of Object.values(value)) expect(result).toMatchObject({ no_log: true });
});

test('nor does its log: of its conditions, its check_cmd, its slots and the steps it reports', async () => {
  project.write({
    'states/_states/stepping.ts': `import type { StateReturn } from 'tsalt-ssh/module';
export const went = (name: string): StateReturn => ({
  name, result: true, comment: '', changes: {},
  sub_state_run: [{
    low: { state: 'step', __id__: 'one', name: 'one', fun: 'ran' },
    result: true, comment: 't0psecret-5', changes: { key: 't0psecret-6' },
  }],
});
`,
    'states/silent.sls': `conditions:
  test.nop:
    - no_log: true
    - onlyif: echo t0psecret-1
    - unless: echo t0psecret-2; false
    - check_cmd: [echo t0psecret-3]
slot:
  test.nop:
    - no_log: true
    - value: __slot__:salt:cmd.run(echo t0psecret-4)
    - other: __slot__:salt:no.such(t0psecret-7)
steps:
  stepping.went:
    - no_log: true
loud:
  test.nop:
    - onlyif: echo not-secret
`,
  });
  for (const output of ['highstate', 'ndjson']) {
    const { stdout, stderr } = await project.run(
      ...['web1', 'state.apply', 'silent', '-l', 'trace', '--out', output],
    );
    expect(stdout + stderr, output).not.toMatch(/t0psecret/);
    expect(stdout + stderr, output).toMatch(/Executing command 'echo not-secret'/);
    expect(stdout, output).toMatch(/step/);
  }
});

test('parallel states run at the same time; what requires them waits', async () => {
  // Each waits until the others have begun.
  const meet = (n: number): string =>
    `touch ${root}/p${n}; until [ -e ${root}/p1 -a -e ${root}/p2 -a -e ${root}/p3 ]; do sleep 0.1; done; sleep 0.2`;
  project.write({
    'states/par.sls': `${[1, 2, 3]
      .map(
        n =>
          `p${n}:\n  cmd.run:\n    - name: ${meet(n)}\n    - timeout: 60\n    - parallel: true\n`,
      )
      .join('')}after:
  test.nop:
    - require: [{cmd: p1}, {cmd: p2}, {cmd: p3}]
`,
  });
  const { stdout } = await project.run('web1', 'state.apply', 'par', '--out', 'ndjson');
  const events = stdout
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as { type: string; time: string; tag?: string });
  const at = (type: string, part: string): number =>
    Date.parse(events.find(one => one.type === type && one.tag?.includes(part))?.time ?? '');
  const starts = [1, 2, 3].map(n => at('state-start', `-p${n}_`));
  const ends = [1, 2, 3].map(n => at('state', `-p${n}_`));
  expect(Math.max(...starts)).toBeLessThan(Math.min(...ends));
  expect(at('state-start', '-after_')).toBeGreaterThanOrEqual(Math.max(...ends));
});

test('a reaction that a lost link has cut off is made up for once, and not twice', async () => {
  project.write({
    'states/react.sls': `${root}/conf:
  file.managed:
    - contents: {{ pillar.version }}
between:
  cmd.run:
    - name: test -e ${root}/go || { touch ${root}/waits; sleep 30; }
    - require: [{file: ${root}/conf}]
restart:
  cmd.wait:
    - name: echo restarted >> ${root}/restarts
    - require: [{cmd: between}]
    - watch: [{file: ${root}/conf}]
`,
  });
  const args = ['state.apply', 'react', 'pillar={version: 2}'];
  const first = project.run('web1', ...args);
  await until(() => existsSync(join(root, 'waits')));
  project.hosts.web1?.server.cut();
  expect((await first).code).toBe(68);
  expect(existsSync(join(root, 'restarts'))).toBe(false);
  writeFileSync(join(root, 'go'), '');
  // The runtime may still be ending its state; the lock is held until then.
  const second = await apply(...args, 'queue=True');
  expect(second.code, second.text).toBe(0);
  expect(readFileSync(join(root, 'restarts'), 'utf8')).toBe('restarted\n');
  const third = await apply(...args);
  expect(third.code, third.text).toBe(0);
  expect(readFileSync(join(root, 'restarts'), 'utf8')).toBe('restarted\n');
});

test('a second run is refused, waits with queue=True or runs beside with concurrent=True', async () => {
  project.write({
    'states/long.sls': `long:\n  cmd.run:\n    - name: echo long >> ${root}/order; until [ -e ${root}/end ]; do sleep 0.1; done; echo end >> ${root}/order\n`,
    'states/short.sls': `short:\n  cmd.run:\n    - name: echo short >> ${root}/order\n`,
  });
  const long = project.run('web1', 'state.apply', 'long');
  await until(() => existsSync(join(root, 'order')));
  const refused = await project.run('web1', 'state.apply', 'short');
  expect(refused.code).not.toBe(0);
  expect(refused.stdout + refused.stderr).toMatch(/state\.apply.*running|queue=True/s);
  const beside = await apply('state.apply', 'short', 'concurrent=True');
  expect(beside.code, beside.text).toBe(0);
  expect(readFileSync(join(root, 'order'), 'utf8')).toBe('long\nshort\n');
  const queueing = apply('state.apply', 'short', 'queue=True');
  // Time to overtake the other, if it did not wait.
  await new Promise(resolve => setTimeout(resolve, 1500));
  writeFileSync(join(root, 'end'), '');
  const queued = await queueing;
  expect(queued.code, queued.text).toBe(0);
  expect((await long).code).toBe(0);
  expect(readFileSync(join(root, 'order'), 'utf8')).toBe('long\nshort\nend\nshort\n');
});

test('exclude= leaves out SLS and IDs; state.test changes nothing; terse shows what matters', async () => {
  project.write({
    'states/a.sls': `include: [b]\n${root}/a:\n  file.managed: [{contents: a}]\nnothing:\n  test.nop: []\n`,
    'states/b.sls': 'from b:\n  test.nop: []\n',
  });
  expect(idsOf((await apply('state.test', 'a')).value)).toEqual(['from b', `${root}/a`, 'nothing']);
  expect(existsSync(join(root, 'a'))).toBe(false);
  expect(idsOf((await apply('state.apply', 'a', 'exclude=b', 'test=True')).value)).toEqual([
    `${root}/a`,
    'nothing',
  ]);
  const byId = await apply('state.apply', 'a', 'exclude=[{id: nothing}, {sls: b}]', 'terse=True');
  expect(idsOf(byId.value)).toEqual([`${root}/a`]);
  expect(existsSync(join(root, 'a'))).toBe(true);
});

test('state.* functions that answer without running states', async () => {
  project.write({
    'states/top.sls': "base:\n  '*': [a]\n",
    'states/bad.sls': 'x: 5\n',
  });
  const ask = async (...args: string[]): Promise<unknown> => (await apply(...args)).value;
  expect(await ask('state.sls_exists', 'a')).toBe(true);
  expect(await ask('state.sls_exists', 'nowhere')).toBe(false);
  expect(await ask('state.sls_exists', 'bad')).toBe(false);
  expect(await ask('state.id_exists', 'nothing', 'a')).toBe(true);
  expect(await ask('state.id_exists', 'nothing,other', 'a')).toBe(false);
  expect(await ask('state.show_states')).toEqual(['b', 'a']);
  expect(await ask('state.show_top')).toEqual({ base: ['a'] });
  expect(await ask('state.show_state_usage')).toMatchObject({
    base: { used: ['a'], count_used: 1 },
  });
});

test('state_aggregate joins what a state module can do at once', async () => {
  project.write({
    'states/_states/bulk.ts': `import { type Result } from 'tsalt-ssh/module';
/** Notes its names. */
export const noted = (name: string, { names }: { names?: string[] } = {}): Result => ({
  name, changes: { noted: names ?? [name] }, result: true, comment: '',
});
/** All that are still to run go with the first. */
export const mod_aggregate = (low: Record<string, unknown>, chunks: Record<string, unknown>[], running: object) => {
  const others = chunks.filter(chunk => chunk.state === 'bulk' && !chunk.__agg__ && chunk.name !== low.name);
  for (const chunk of others) chunk.__agg__ = true;
  return { ...low, names: [low, ...others].map(chunk => chunk.name) };
};
`,
    'states/agg.sls': 'one:\n  bulk.noted: []\ntwo:\n  bulk.noted: []\n',
  });
  const noted = async () =>
    Object.values((await apply('state.apply', 'agg')).value).map(one => one.changes);
  expect(await noted()).toEqual([{ noted: ['one'] }, { noted: ['two'] }]);
  appendFileSync(join(project.dir, 'tsalt.yaml'), 'state_aggregate: true\n');
  expect((await noted())[0]).toEqual({ noted: ['one', 'two'] });
});

const bombs: [string, string][] = [
  [
    'an alias bomb',
    `a0: &a0 [x, x, x, x, x, x, x, x, x]\n${Array.from(
      { length: 12 },
      (_, n) => `a${n + 1}: &a${n + 1} [${Array(9).fill(`*a${n}`).join(', ')}]\n`,
    ).join('')}`,
  ],
  ['nesting beyond reason', `a: ${'['.repeat(20_000)}${']'.repeat(20_000)}\n`],
  ['nested mappings beyond reason', `a: ${'{a: '.repeat(5000)}1${'}'.repeat(5000)}\n`],
];

test.each(bombs)(
  '%s ends in a clear error that names the file, in bounded time',
  async (_, text) => {
    project.write({ 'states/bomb.sls': text });
    const begin = performance.now();
    const { code, stdout, stderr } = await project.run('web1', 'state.apply', 'bomb');
    expect(code, (stdout + stderr).slice(0, 2000)).toBe(65);
    expect(stdout + stderr).toContain('bomb.sls');
    expect(stdout + stderr).not.toMatch(/RangeError|at .*\.ts:/);
    expect(performance.now() - begin).toBeLessThan(20_000);
  },
);

test('test: true in the options of a host is obeyed, and test=False on the command line wins', async () => {
  const entry = project.hosts.web1?.entry ?? '';
  project.write({
    'states/_modules/mode.ts':
      "import { __opts__ } from 'tsalt-ssh/module';\nexport const test = () => __opts__.test;\n",
    'states/mode.sls': `#!jinja|yaml
${root}/mode:
  file.managed:
    - contents: {{ opts.test }}
`,
    'local.yaml': 'test: true\n',
  });
  const results = async (...args: string[]) => {
    const { value } = await apply('state.apply', 'mode', ...args);
    return Object.values(value).map(({ result }) => result);
  };
  const mode = async () => (await project.run('web1', 'mode.test', '--out=txt')).stdout;
  const usual = readFileSync(join(project.dir, 'tsalt.yaml'), 'utf8');

  project.roster(`${entry}  minion_opts: {test: true}\n`);
  expect(await results()).toEqual([null]);
  expect(await results('test=True')).toEqual([null]);
  expect(await mode()).toBe('web1: True\n');
  expect(await results('test=False')).toEqual([true]);
  expect(readFileSync(`${root}/mode`, 'utf8').trim()).toBe('False');

  writeFileSync(`${root}/mode`, 'else');
  project.roster(entry);
  project.write({ 'tsalt.yaml': `${usual}ssh_minion_opts: {test: true}\n` });
  expect(await results()).toEqual([null]);
  expect(await mode()).toBe('web1: True\n');

  // The source nearer to the host counts.
  project.roster(`${entry}  minion_opts: {test: false}\n`);
  expect(await mode()).toBe('web1: False\n');
  project.roster(entry);
  project.write({ 'tsalt.yaml': usual });
  expect(await results(`localconfig=${join(project.dir, 'local.yaml')}`)).toEqual([null]);
  expect(await mode()).toBe('web1: False\n');
  expect(readFileSync(`${root}/mode`, 'utf8')).toBe('else');
});

test('global_state_conditions: the host asks here, and only for those that are configured', async () => {
  project.write({
    'states/conditioned.sls': 'a:\n  test.nop: []\nb:\n  cmd.run:\n    - name: "true"\n',
  });
  const before = readFileSync(join(project.dir, 'tsalt.yaml'), 'utf8');
  project.write({
    'tsalt.yaml': `${before}\nglobal_state_conditions:\n  test: G@kernel:Linux and E@web[0-9]\n  cmd.run: [G@os:Windows, P@os:Win.*]\n`,
  });
  try {
    const { value } = await apply('state.apply', 'conditioned');
    const comments = Object.values(value).map(one => one.comment);
    expect(comments[0]).toBe('Success!');
    expect(comments[1]).toMatch(/P@|from a host/);
  } finally {
    project.write({ 'tsalt.yaml': before });
  }
});
