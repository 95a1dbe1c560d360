// @module-tag slow
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Project, startProject } from '../../../helpers/project.ts';

/** The promises of spec/execution-modules and spec/state-modules to module authors, over SSH. */
const files: Record<string, string> = {
  // Every folder, every extension, single files and folders.
  'states/_modules/one.ts': `import { __utils__ } from 'tsalt-ssh/module';
    export const go = (): string => 'ts ' + __utils__['words.loud']('hi');`,
  'states/_modules/two.mts': `export const go = (): string => 'mts';`,
  'states/_modules/three.js': `export const go = () => 'js';`,
  'states/_modules/four.mjs': `export const go = () => 'mjs';`,
  'states/_modules/five.cjs': `exports.go = () => 'cjs';`,
  'states/_modules/six/index.ts': `import { part } from './part.ts'; export const go = () => part;`,
  'states/_modules/six/part.ts': `export const part = 'folder';`,
  'dev/_modules/seven.ts': `export const go = (): string => 'another environment';`,
  'states/_utils/words.ts': `export const loud = (text: string): string => text.toUpperCase();`,
  'states/_grains/colour.ts': `import { __grains__, depends } from 'tsalt-ssh/module';
    export const __func_alias__ = { shade_: 'shade' };
    export const colour = () => ({ colour: 'green' });
    export const shade_ = () => ({ shade: 'dark ' + __grains__.colour });
    export const taste = depends('no-such-command-here', () => ({ taste: 'sour' }));`,
  'states/_grains/elsewhere.ts': `export const __virtual__ = () => [false, 'not on this planet'];
    export const planet = () => ({ planet: 'Mars' });`,
  'states/_renderers/pairs.ts': `export const kind = 'data';
    export const render = (text: string) =>
      Object.fromEntries(text.trim().split('\\n').slice(1).map(line => line.split(' = ')));`,
  'states/rendered.sls': '#!pairs\nhello = test.nop\n',
  'states/_pillar/inventory.ts': `export const ext_pillar = async (id: string, pillar: any, { rack }: { rack: number }) =>
      ({ inventory: { id, rack, owner: pillar.owner } });`,
  'states/_pillar/pair.cjs': `exports.ext_pillar = (id, pillar, first, second) => ({ pair: [first, second] });`,
  'states/_pillar/words.ts': `export const ext_pillar = (id: string, _: object, word: string) => ({ word });`,
  'pillar/top.sls': `base:\n  '*': [site]\n  7:\n    - match: rack\n    - racked\n`,
  'pillar/site.sls': 'owner: ann\n',
  'pillar/racked.sls': 'racked: true\n',
  'states/_matchers/rack_match.ts': `export const match = (target: unknown, { id, grains }: any) =>
      id === 'web1' && String(target) === String(grains.rack);`,
  'states/top.sls': `base:\n  7:\n    - match: rack\n    - rendered\n  8:\n    - match: rack\n    - never\n`,
  'states/_outputters/dots.ts': `export const output = (data: object): string =>
      Object.entries(data).map(([id, value]) => id + '...' + value).join('\\n');`,
  'states/_outputters/slow.ts': `export const output = async (): Promise<string> => 'too late';`,
  'states/script.sls': `#!ts
import { sep } from 'node:path';
import { state } from './neighbour.ts';
export const run = async () => ({ ['a' + sep + 'b']: { [state]: [] } });
`,
  'states/neighbour.ts': `export const state = 'test.nop';`,

  // Packages from npm are bundled, built-ins of Node are left alone.
  'node_modules/left/package.json': '{"name": "left", "version": "1.0.0", "main": "main.js"}',
  'node_modules/left/main.js': `exports.left = text => text.padStart(5, '.');`,
  'states/_modules/needs.ts': `import { createHash } from 'node:crypto';
    import { left } from 'left';
    export const npm = (text: string) => left(text);
    export const hash = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 8);`,

  // Names: a built-in one replaced, virtual ones, several candidates, providers.
  'states/_modules/timezone.ts': `export const get_zone = (): string => 'Mars/Olympus';`,
  'states/_modules/named.ts': `export const __virtualname__ = 'given';
    export const __virtual__ = async () => { await null; return __virtualname__; };
    export const go = () => 'given';`,
  'states/_modules/plain.ts': `export const __virtual__ = () => true; export const go = () => 'plain';`,
  'states/_modules/nope.ts': `export const __virtual__ = () => false; export const go = () => 1;`,
  'states/_modules/why.ts': `export const __virtual__ = () => [false, 'enzymes unavailable'];
    export const go = () => 1;`,
  'states/_modules/shop_a.ts': `export const __virtualname__ = 'shop';
    export const __virtual__ = () => [false, 'a is closed'];
    export const which = () => 'a';`,
  'states/_modules/shop_b.ts': `export const __virtualname__ = 'shop';
    export const __virtual__ = () => __virtualname__;
    export const which = () => 'b';`,
  'states/_modules/shop_c.ts': `export const __virtualname__ = 'shop';
    export const __virtual__ = () => __virtualname__;
    export const which = () => 'c';`,
  'states/_states/shop.ts': `import { __salt__ } from 'tsalt-ssh/module';
    export const done = async (name: string) =>
      ({ name, changes: {}, result: true, comment: await __salt__['shop.which']() });`,
  'states/shopping.sls': `usual: {shop.done: []}
other: {shop.done: [{provider: shop_c}]}
others: {shop.done: [{providers: [{shop: shop_c}]}]}
`,

  // Broken modules.
  'states/_modules/typo.ts': 'export const go = () => {\n  return 1 +;\n};\n',
  'states/_modules/lost.ts': `import { x } from 'not-there'; export const go = () => x;`,
  'states/_modules/throws.ts': `throw new Error('no such luck'); export const go = () => 1;`,
  'states/_modules/snake.py': 'def go(): return 1\n',

  // Results of a module, and its own data.
  'states/_modules/finds.ts': `/** Says what it finds.
     * @maintainer Ann
     * @maturity new
     * @depends nothing
     * @platform all */
    import { __context__, __grains__, __opts__, __pillar__, __salt__, depends, log } from 'tsalt-ssh/module';
    let started = 0;
    export const __init__ = (opts: any) => { started += 1; __context__.init = opts['finds.word']; };
    export const __func_alias__ = { list_: 'list' };
    export const __outputter__ = { lines: 'txt' };
    export const list_ = () => ['aliased'];
    export const lines = () => 'one\\ntwo';
    export const _hidden = () => 1;
    export const cheese = {};
    export const all = async () => ({
      started, init: __context__.init, grain: __grains__.colour, pillar: __pillar__.owner,
      config: await __salt__['config.get']('finds.word'), minion: __opts__['finds.number'],
      cross: await __salt__['three.go'](), known: 'three.go' in __salt__, unknown: 'x.y' in __salt__,
    });
    /** Adds.
     * @param left one
     * @param right other
     * @example tsalt-ssh '*' finds.add 1 right=2 */
    export const add = (left: number, { right = 1, note = null }: { right?: number; note?: string | null } = {}) =>
      left + right;
    export const speak = (): boolean => {
      log.debug('whisper'); log.info('said', { a: 1 }); log.warning('careful'); log.error('ouch');
      return true;
    };
    const never = () => 'never';
    export const by_command = depends('sh', () => 'sh');
    export const by_missing = depends('no-such-command-here', never);
    export const by_function = depends('three.go', () => 'function');
    export const by_boolean = depends(false, never);
    export const by_fallback = depends('no-such-command-here', never, { fallback: () => 'instead' });`,

  // States: hooks and calls between modules.
  'states/_states/hooked.ts': `import { __context__, __states__, __salt__ } from 'tsalt-ssh/module';
    const ret = (name: string, more: object) => ({ name, changes: {}, result: true, comment: '', ...more });
    export const mod_init = async () => { __context__.inits = (__context__.inits ?? 0) + 1; return true; };
    export const changed = async (name: string) => ret(name, { changes: { [name]: 'new' }, comment: 'inits ' + __context__.inits });
    export const still = async (name: string) => ret(name, { comment: 'inits ' + __context__.inits });
    export const mod_watch = async (name: string, { sfun }: { sfun: string }) => ret(name, { changes: { watched: sfun }, comment: 'watched' });
    export const crossing = async (name: string) => {
      const inner = await __states__['test.succeed_with_changes'](name);
      return ret(name, { changes: inner.changes, comment: await __salt__['three.go']() });
    };
`,
  // With mod_run_check a module deals with onlyif itself.
  'states/_states/checked.ts': `export const mod_run_check = async () => true;
    export const done = async (name: string, { onlyif = '' }: { onlyif?: string } = {}) =>
      ({ name, changes: {}, result: true, comment: 'own check of ' + onlyif });`,
  'states/checked.sls': 'here: {checked.done: [{onlyif: "false"}]}\n',
  'states/hooked.sls': `first: {hooked.changed: []}
second: {hooked.still: [{watch: [{hooked: first}]}]}
third: {hooked.crossing: []}
`,
};

let project: Project;
let rosterText = '';

const read = (path: string): string => readFileSync(join(project.dir, path), 'utf8');

beforeAll(async () => {
  project = await startProject({ files });
  project.write({
    'tsalt.yaml': `known_hosts_file: known_hosts
cachedir: cache
file_roots: {base: [states], dev: [dev]}
finds.word: from tsalt.yaml
ext_pillar:
  - inventory: {rack: 7}
  - pair: [1, two]
  - words: hello
`,
  });
  rosterText = `${project.hosts.web1?.entry.replace('grains: {', 'grains: {rack: 7, ')}  minion_opts:\n    finds.number: 42\n`;
  project.roster(rosterText);
});

afterAll(() => project?.close());

const run = (...args: string[]) => project.run('web1', '--out=json', ...args);

const answer = async (...args: string[]): Promise<unknown> =>
  ((await run(...args)).json() as Record<string, unknown>).web1;

type State = { result: boolean; changes: object; comment: string };
const apply = async (...args: string[]): Promise<State[]> =>
  Object.values((await answer(...args)) as Record<string, State>);

const connections = (): number => project.hosts.web1?.server.counts.connections ?? -1;

/** Everything a user sees of a call that must not reach the host. */
const unconnected = async (...args: string[]): Promise<string> => {
  const before = connections();
  const { stdout, stderr, code } = await project.run('web1', ...args);
  expect(connections()).toBe(before);
  return `${code} ${stdout}${stderr}`;
};

test('every extension, and a folder with an index, is a module', async () => {
  // The first call builds the artifact for all.
  expect(await answer('one.go')).toBe('ts HI');
  const others = ['two', 'three', 'four', 'five', 'six', 'seven'];
  const results = await Promise.all(others.map(name => answer(`${name}.go`)));
  expect(results).toEqual(['mts', 'js', 'mjs', 'cjs', 'folder', 'another environment']);
});

test('packages of npm come along, and Node brings its own', async () => {
  expect(await answer('needs.npm', 'abc')).toBe('..abc');
  expect(await answer('needs.hash', 'abc')).toBe('ba7816bf');
});

test('utils, grains, renderers and outputters of the project are at work', async () => {
  const { stderr, json } = await run(
    '-l',
    'warning',
    'grains.item',
    'colour',
    'shade',
    'taste',
    'planet',
  );
  expect(json()).toEqual({ web1: { colour: 'green', shade: 'dark green', taste: '', planet: '' } });
  expect(stderr).not.toContain('elsewhere');
  expect(await apply('state.apply', 'rendered')).toMatchObject([{ result: true }]);
  const shown = await project.run('web1', '--out=dots', 'three.go');
  expect([shown.code, shown.stdout]).toEqual([0, 'web1...js\n']);
});

test('an outputter that returns no text leaves the results to the usual one', async () => {
  const { code, stdout, stderr } = await project.run('web1', '--out=slow', 'three.go');
  expect([code, stdout]).toEqual([0, 'web1:\n    js\n']);
  expect(stderr).toContain("The outputter 'slow' failed: it returns no text.");
});

test('an SLS in TypeScript below the current folder finds its neighbours', async () => {
  expect(await apply('state.apply', 'script')).toMatchObject([{ result: true, name: 'a/b' }]);
});

test('custom sources of ext_pillar receive their arguments as from Salt', async () => {
  expect(await answer('pillar.items')).toMatchObject({
    owner: 'ann',
    inventory: { id: 'web1', rack: 7, owner: 'ann' },
    pair: [1, 'two'],
    word: 'hello',
  });
});

test('own matchers decide in the top files of states and pillar', async () => {
  expect(await answer('state.show_top')).toEqual({ base: ['rendered'] });
  expect(await answer('pillar.get', 'racked')).toBe(true);
});

test('a module of the project takes the place of the built-in one', async () => {
  expect(await answer('timezone.get_zone')).toBe('Mars/Olympus');
});

test('__virtual__ names a module, lets it load or says why it does not', async () => {
  expect(await answer('given.go')).toBe('given');
  expect(await answer('plain.go')).toBe('plain');
  const { code, stdout, stderr } = await run('why.go');
  expect(code).not.toBe(0);
  expect(stdout + stderr).toContain("'why.go' is not available: enzymes unavailable");
  expect((await run('nope.go')).stdout).toMatch(/'nope.go' is not available/);
});

test('of several candidates the first that agrees is taken, unless providers decide', async () => {
  expect(await answer('shop.which')).toBe('b');
  expect((await apply('state.apply', 'shopping')).map(({ comment }) => comment)).toEqual([
    'b',
    'c',
    'c',
  ]);
  project.write({ 'with-providers.yaml': `${read('tsalt.yaml')}providers: {shop: shop_c}\n` });
  expect(await answer('-c', 'with-providers.yaml', 'shop.which')).toBe('c');
  project.roster(`${rosterText}    providers: {shop: shop_c}\n`);
  expect(await answer('shop.which')).toBe('c');
  project.roster(rosterText);
});

test('a broken module is left out: the run reports it once, its callers learn the position', async () => {
  const { stderr, code } = await run('three.go');
  expect(code).toBe(0);
  const warnings = stderr.split('\n').filter(line => line.startsWith('[WARNING'));
  expect(warnings.map(line => /module '(\w+)'/.exec(line)?.[1]).sort()).toEqual([
    'lost',
    'snake',
    'typo',
  ]);
  expect(await unconnected('typo.go')).toMatch(/'typo\.go' is not available: .*typo\.ts:2:13/);
  expect(await unconnected('lost.go')).toMatch(/'lost\.go' is not available: .*not-there/);
  expect(await unconnected('snake.go')).toMatch(/Python.*snake\.py/);
  const thrown = await run('throws.go');
  expect(thrown.stdout).toMatch(/'throws\.go' is not available: .*no such luck/);
});

test('a module finds grains, pillar, options, configuration and other modules', async () => {
  expect(await answer('finds.all')).toEqual({
    started: 1,
    init: 'from tsalt.yaml',
    grain: 'green',
    pillar: 'ann',
    config: 'from tsalt.yaml',
    minion: 42,
    cross: 'js',
    known: true,
    unknown: false,
  });
});

test('aliases are called by their name; private names and values are not there', async () => {
  expect(await answer('finds.list')).toEqual(['aliased']);
  const listed = await answer('sys.list_functions', 'finds');
  expect(listed).toContain('finds.list');
  for (const name of ['list_', '_hidden', 'cheese'])
    expect(await unconnected(`finds.${name}`)).toContain(`'finds.${name}' is not available`);
  expect(listed).not.toContain('finds.cheese');
});

test('__outputter__ chooses how a return is shown', async () => {
  const { stdout } = await project.run('web1', 'finds.lines');
  expect(stdout).toBe('web1: one\nweb1: two\n');
});

test('depends takes functions away, or puts others in their place', async () => {
  expect(await answer('finds.by_command')).toBe('sh');
  expect(await answer('finds.by_function')).toBe('function');
  expect(await answer('finds.by_fallback')).toBe('instead');
  for (const name of ['by_missing', 'by_boolean']) {
    const { code, stdout } = await run(`finds.${name}`);
    expect([code === 0, stdout]).toEqual([false, expect.stringContaining('is not available')]);
  }
});

test('log lines reach the terminal with host, module and level, and no result', async () => {
  const own = (text: string): string[] =>
    text.split('\n').filter(line => line.includes('web1: finds: '));
  const usual = await run('finds.speak');
  expect(usual.json()).toEqual({ web1: true });
  expect(own(usual.stderr)).toEqual([
    '[WARNING ] web1: finds: careful',
    '[ERROR   ] web1: finds: ouch',
  ]);
  expect(own((await run('-l', 'debug', 'finds.speak')).stderr)).toEqual([
    '[DEBUG   ] web1: finds: whisper',
    '[INFO    ] web1: finds: said {"a":1}',
    '[WARNING ] web1: finds: careful',
    '[ERROR   ] web1: finds: ouch',
  ]);
  expect(own((await run('-l', 'quiet', 'finds.speak')).stderr)).toEqual([]);
});

test('mod_init runs once, mod_watch reacts, states call states and functions', async () => {
  const states = await apply('state.apply', 'hooked');
  expect(states.map(({ comment }) => comment)).toEqual(['inits 1', 'watched', 'js']);
  expect(states[1]?.changes).toEqual({ watched: 'still' });
  expect(Object.keys(states[2]?.changes ?? {})).toEqual(['testing']);
  const [checked] = await apply('state.apply', 'checked');
  expect(checked).toMatchObject({ result: true, comment: 'own check of false' });
});

test('documentation needs no host, lists of what there is need one', async () => {
  expect(await unconnected('sys.doc', 'finds.add')).toMatch(
    /^0 [\s\S]*Adds\.[\s\S]*right : 1[\s\S]*finds.add 1 right=2/,
  );
  const before = connections();
  expect(await answer('sys.argspec', 'finds.add')).toEqual({
    'finds.add': {
      args: ['left', 'right', 'note'],
      defaults: [1, null],
      varargs: null,
      kwargs: null,
    },
  });
  expect(connections()).toBe(before);
  expect(await answer('sys.list_modules', 'fi*')).toContain('finds');
  expect(await answer('sys.list_functions', 'given')).toContain('given.go');
  expect(await answer('sys.list_state_functions', 'hooked')).toContain('hooked.changed');
  expect(await unconnected('sys.state_doc', 'pkg.installed')).toContain('pkgs');
  expect(await unconnected('sys.renderer_doc', 'yaml')).toContain('YAML');
  expect(await unconnected('sys.list_renderers')).toContain('pairs');
});

test('arguments that cannot be meant are refused before any connection', async () => {
  const refused = (...args: string[]) => unconnected(...args);
  expect(await refused('finds.add')).toMatch(/^[1-9]\d* [\s\S]*left/);
  expect(await refused('finds.add', '1', 'rihgt=2')).toMatch(/did you mean 'right'/);
  expect(await refused('finds.add', '1', '2', '3', '4')).toMatch(/^[1-9]\d* /);
  expect(await refused('finds.add', 'cheese')).toMatch(/left.*number/);
  expect(await refused('finds.ad', '1')).toMatch(/Did you mean 'finds.add'/);
  expect(await refused('fnids.add', '1')).toMatch(/Did you mean 'finds.add'/);
  expect(await answer('finds.add', "'40'", 'right=2')).toBe(42);
});

test('saltutil.sync_* return the existing modules', async () => {
  const synced = (await answer('saltutil.sync_all')) as Record<string, string[]>;
  expect(synced).toMatchObject({
    grains: ['grains.colour', 'grains.elsewhere'],
    renderers: ['renderers.pairs'],
    utils: ['utils.words'],
    outputters: ['outputters.dots', 'outputters.slow'],
    states: ['states.checked', 'states.hooked', 'states.shop'],
  });
  expect(synced.modules).toEqual(expect.arrayContaining(['modules.five', 'modules.six']));
  expect(synced.modules).not.toContain('modules.typo');
});

test('execution functions run on the control node, without a host', async () => {
  const before = connections();
  const local = await project.run('--local', '--out=json', 'cmd.run', 'id -un');
  const name = execFileSync('id', ['-un'], { encoding: 'utf8' }).trim();
  expect(Object.values(local.json())).toEqual([name]);
  expect(Object.values((await project.run('@local', '--out=json', 'three.go')).json())).toEqual([
    'js',
  ]);
  expect(connections()).toBe(before);
});
