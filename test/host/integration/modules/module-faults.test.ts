import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Project, startProject } from '../../../helpers/project.ts';

/** Where errors that a module throws are reported: at the position in the author's own file. */
const modules = {
  'states/_modules/broken.ts': `import { __salt__, CommandExecutionError } from 'tsalt-ssh/module';

type Thing = { readonly inner: { readonly name: string } };

export const direct = (name: string): string => {
  const thing = {} as Thing;
  return \`\${name} \${thing.inner.name}\`;
};

export const through = async (): Promise<unknown> => __salt__['broken.direct']('x');

export const builtin = async (): Promise<unknown> => {
  const text = await __salt__['file.read'](undefined);
  return text;
};

export const said = (): never => {
  throw new CommandExecutionError('The shelf is full.');
};
`,
  'states/_modules/needs%41 helper#.ts': `import { pick } from './lib/pïck.ts';
export const __virtualname__ = 'helped';
export const __virtual__ = () => __virtualname__;
export const go = () => pick([]);
export const here = (text: string) => text.length.nothing.at;
`,
  'states/_modules/lib/pïck.ts': `// A comment, that lines differ.
export const pick = (list: readonly { name: string }[]): string =>
  list[0]!.name;
`,
  'states/_modules/packed.js': `import { left } from 'left';
export const go = () => left(undefined);
`,
  'node_modules/left/package.json': '{"name": "left", "version": "1.0.0", "main": "main.js"}',
  'node_modules/left/main.js': 'exports.left = text => text.padStart(5);',
  'states/_modules/unloadable.ts': `const table: Record<string, string[]> = {};
export const first = (table.nothing as string[])[0];
export const go = () => first;
`,
  'states/_states/thing.ts': `import type { StateReturn } from 'tsalt-ssh/module';
import { __salt__ } from 'tsalt-ssh/module';

export const made = async (name: string): Promise<StateReturn> => {
  await __salt__['test.ping']();
  const list = JSON.parse('null') as string[];
  return { name, changes: {}, result: true, comment: list.join() };
};

export const strange = async (name: string): Promise<StateReturn> => {
  throw name;
};
`,
  'states/_states/prepared.ts': `export const mod_init = (): boolean => {
  throw new RangeError('no room');
};
export const done = (name: string) => ({ name, changes: {}, result: true, comment: '' });
`,
  'states/_grains/own.ts': `export const rack = () => ({ rack: 7 });
export const row = (): object => ({ row: (undefined as unknown as string).trim() });
`,
  'states/_modules/soft.ts': `export const __contracts__ = ['soft_fail'];
export const go = () => {
  throw new TypeError('weak');
};
`,
  'states/all.sls': `a: {thing.made: [{retry: {attempts: 2, interval: 0}}]}
b: {prepared.done: []}
c: {thing.strange: []}
`,
  'states/templated.sls': `#!jinja|yaml
{{ salt['broken.direct']('x') }}: {test.nop: []}
`,
};

let project: Project;

beforeAll(async () => {
  project = await startProject({ files: modules });
});

afterAll(async () => {
  await project?.close();
});

const shown = async (...args: string[]): Promise<string> => {
  const { stdout, stderr } = await project.run('web1', ...args);
  return stdout + stderr;
};

test.each([
  ['broken.direct x', 'states/_modules/broken.ts:7:33'],
  ['broken.through', 'states/_modules/broken.ts:7:33'],
  ['broken.builtin', 'states/_modules/broken.ts:13:'],
  ['helped.go', 'states/_modules/lib/pïck.ts:3:12'],
  ['helped.here x', 'states/_modules/needs%41 helper#.ts:5:59'],
  ['packed.go', 'states/_modules/packed.js:2:25'],
  ['unloadable.go', 'states/_modules/unloadable.ts:2:29'],
])('%s fails with the place %s', { tags: 'slow' }, async (call, place) => {
  const text = await shown(...call.split(' '));
  expect(text).toContain(`(${place}`);
  expect(text).not.toMatch(/[0-9a-f]{64}|\n\s+at |node_modules/);
});

test('an error that a module throws on purpose has no position', { tags: 'slow' }, async () => {
  expect(await shown('broken.said')).not.toContain('broken.ts');
});

test('the comment of a state that threw ends with the place', async () => {
  const { stdout } = await project.run('web1', '--out=json', 'state.apply', 'all');
  const states = Object.values(JSON.parse(stdout).web1) as Record<string, unknown>[];
  expect(states.map(({ comment }) => comment)).toEqual([
    expect.stringMatching(/TypeError: .*\n.*TypeError: .* \(states\/_states\/thing\.ts:7:\d+\)$/s),
    "An exception occurred in mod_init of this state's module: RangeError: no room (states/_states/prepared.ts:2:9)",
    'An exception occurred in this state: c',
  ]);
  expect(stdout).not.toContain('__stack__');
});

test('a template that calls such a function reports both positions', async () => {
  const text = await shown('state.apply', 'templated');
  expect(text).toContain('states/templated.sls');
  expect(text).toContain('states/_modules/broken.ts:7:33');
});

test('grains that fail and soft failures are placed in the log', async () => {
  const text = await shown('soft.go', '-l', 'info');
  expect(text).toMatch(
    /The grains of own\.row could not be read: .*\(states\/_grains\/own\.ts:2:\d+\)/,
  );
  expect(text).toContain('soft_fail: TypeError: weak (states/_modules/soft.ts:3:9)');
});

test('-l debug shows the way there, in sources only', async () => {
  const text = await shown('broken.through', '-l', 'debug');
  expect(text).toMatch(
    /TypeError: .*\n +at states\/_modules\/broken\.ts:7:33\n(.*\n)* +at .*src\/runtime\/registry\.ts:\d+:\d+/,
  );
});

test('sources and their map stay on the control node', async () => {
  const { readdirSync } = await import('node:fs');
  const cache = join(project.dir, 'cache/artifacts');
  const names = readdirSync(cache);
  expect(names.filter(name => name.endsWith('.map')).length).toBeGreaterThan(0);
  for (const name of names.filter(item => item.endsWith('.js')))
    expect(readFileSync(join(cache, name), 'latin1')).not.toContain('sourceMappingURL');
});
