import { expect, test } from 'vitest';
import { HostWork } from '../../../src/control/apart/host-work.ts';
import { checkFunctions } from '../../../src/control/prepare/check-functions.ts';
import { HostFunctions } from '../../../src/control/serve/host-functions.ts';
import { wholeRange } from '../../../src/data/taint.ts';
import { toDict } from '../../../src/data/values/value.ts';
import type { LowChunk } from '../../../src/protocol/low.ts';
import type { PlainDict } from '../../../src/protocol/plain.ts';
import type { WrapperContext } from '../../../src/wrapper/context.ts';
import { hostFunction, hostFunctionNames } from '../../../src/wrapper/host-functions.ts';
import { controlFunctions, findWrapper, wrapperModules } from '../../../src/wrapper/table.ts';

const rightOf = (right: string): string =>
  hostFunctionNames()
    .filter(name => hostFunction(name)?.right === right)
    .join(' ');

test('hosts may call these functions of the control node at any time, and no others', () => {
  expect(rightOf('always').split(' ')).toEqual([
    ...'config.backup_mode config.dot_vals config.get config.items'.split(' '),
    ...'config.manage_mode config.merge config.option config.valid_fileproto'.split(' '),
    ...'cp.list_master cp.list_master_dirs cp.list_master_symlinks cp.list_states'.split(' '),
    ...'defaults.deepcopy defaults.merge defaults.update'.split(' '),
    ...'pillar.data pillar.fetch pillar.filter_by pillar.get pillar.item pillar.items'.split(' '),
    ...'pillar.keys pillar.ls pillar.obfuscate pillar.raw'.split(' '),
    ...'salt_version.equal salt_version.get_release_number'.split(' '),
    ...'salt_version.greater_than salt_version.less_than'.split(' '),
    ...'saltutil.pillar_refresh saltutil.refresh_pillar'.split(' '),
    ...'slsutil.boolstr slsutil.merge slsutil.merge_all slsutil.update'.split(' '),
  ]);
  expect(rightOf('serialize')).toBe('slsutil.deserialize slsutil.serialize');
});

test('hosts may call these functions only as a compiled state calls them', () => {
  expect(rightOf('stated').split(' ')).toEqual([
    ...'log.critical log.debug log.error log.exception log.info log.warning'.split(' '),
    ...'match.compound match.glob match.grain match.ipcidr match.list match.pillar'.split(' '),
    'orch.result',
    ...'saltutil.clear_cache saltutil.clear_job_cache saltutil.list_extmods'.split(' '),
    ...'saltutil.refresh_beacons saltutil.refresh_grains saltutil.refresh_matchers'.split(' '),
    ...'saltutil.refresh_modules saltutil.sync_all saltutil.sync_beacons'.split(' '),
    ...'saltutil.sync_clouds saltutil.sync_engines saltutil.sync_executors'.split(' '),
    ...'saltutil.sync_grains saltutil.sync_log_handlers saltutil.sync_matchers'.split(' '),
    ...'saltutil.sync_modules saltutil.sync_output saltutil.sync_outputters'.split(' '),
    ...'saltutil.sync_pillar saltutil.sync_proxymodules saltutil.sync_renderers'.split(' '),
    ...'saltutil.sync_returners saltutil.sync_sdb saltutil.sync_serializers'.split(' '),
    ...'saltutil.sync_states saltutil.sync_thorium saltutil.sync_utils'.split(' '),
    ...'slsutil.dir_exists slsutil.file_exists slsutil.path_exists'.split(' '),
  ]);
});

test('the list names functions that are there, with arguments that they have', () => {
  expect(hostFunctionNames().filter(name => !findWrapper(name))).toEqual([]);
  expect(
    controlFunctions()
      .map(({ name }) => name)
      .sort(),
  ).toEqual(hostFunctionNames());
  for (const name of hostFunctionNames()) {
    const { params = [], anyKeyword } = findWrapper(name) ?? {};
    const known = params.map(param => (typeof param === 'string' ? param : param[0]));
    const named = Object.keys(hostFunction(name)?.arguments ?? {});
    if (!anyKeyword) for (const one of known.slice(0, 1)) expect(named, name).toContain(one);
  }
});

const chunk = (given: object): LowChunk =>
  ({
    state: 'module',
    fun: 'run',
    name: 'x',
    __id__: 'x',
    __sls__: 's',
    __env__: 'base',
    order: 1,
    ...given,
  }) as LowChunk;

const pillar = toDict({ a: { b: 'value' }, role: 'web' });

const site = (chunks: readonly LowChunk[] = [], tainted: readonly string[] = []) => {
  const calls: string[] = [];
  const context = {
    id: 'web1',
    grains: toDict({ os: 'Debian' }),
    opts: toDict({ id: 'web1' }),
    masterOpts: new Map(),
    nodegroups: {},
    matchers: new Map(),
    pillar: async () => pillar,
    refreshPillar: async () => {
      calls.push('refresh');
    },
    modules: [],
    config: { pillar_merge_lists: false },
    log: () => undefined,
    files: { exists: () => true, list: () => [] },
  } as unknown as WrapperContext;
  const functions = new HostFunctions(
    text => (tainted.includes(text) ? wholeRange(text, 'grain "os"') : undefined),
    () => context,
    new HostWork('bad'),
  );
  functions.addChunks(chunks);
  const ask = async (fun: unknown, args: unknown = [], kwargs: unknown = {}): Promise<unknown> => {
    try {
      return await functions.request({ fun, args, kwargs } as never);
    } catch (error) {
      return (error as Error).message;
    }
  };
  return { ask, calls };
};

test('a host asks for its own data', async () => {
  const { ask } = site();
  expect(await ask('pillar.get', ['a:b'])).toBe('value');
  expect(await ask('pillar.item', ['a:b', 'role'], { default: 0 })).toEqual({
    'a:b': 'value',
    role: 'web',
  });
  expect(await ask('config.get', ['role'])).toBe('web');
  expect(await ask('slsutil.merge', [{ a: 1 }, { b: [2] }])).toEqual({ a: 1, b: [2] });
});

test('any other function of the control node is refused', async () => {
  const { ask } = site();
  const all = wrapperModules().flatMap(({ file, functions }) =>
    functions.map(({ name }) => `${file}.${name}`),
  );
  const others = all.filter(name => hostFunction(name)?.right !== 'always');
  expect(others).toEqual(
    expect.arrayContaining(['sdb.get', 'vault.read_secret', 'pillar.ext', 'slsutil.renderer']),
  );
  for (const name of [...others, '__proto__.get', 'constructor.name', 'pillar.__proto__', ''])
    expect(await ask(name), name).toMatch(/is not available|is not called by a state|is for file/);
});

test('arguments that choose how the pillar is compiled are refused', async () => {
  const { ask } = site();
  for (const kwargs of [{ pillarenv: 'prod' }, { saltenv: 'prod' }])
    expect(await ask('pillar.get', ['a'], kwargs)).toMatch(/does not take this \w+ from a host/);
  expect(await ask('pillar.items', [], { pillar: { role: 'admin' } })).toMatch(
    /does not take this pillar from a host/,
  );
});

test('a function that a state calls takes the texts of that state, and those only', async () => {
  const { ask } = site(
    [
      chunk({ 'match.glob': ['web*'] }),
      chunk({
        state: 'cmd',
        onlyif: [{ fun: 'match.compound', tgt: 'G@os:Debian or P@os:(a+)+$' }],
      }),
      chunk({ state: 'cmd', unless: [{ fun: 'match.grain', tgt: 'os:Deb*' }] }),
      chunk({ 'slsutil.file_exists': ['salt://from-a-grain'] }),
    ],
    ['salt://from-a-grain'],
  );
  expect(await ask('match.glob', ['web*'])).toBe(true);
  expect(await ask('match.grain', [], { tgt: 'os:Deb*' })).toBe(true);
  expect(await ask('match.glob', ['db*'])).toEqual(
    expect.stringMatching(/is not called so by a state/),
  );
  expect(await ask('match.grain', ['web*'])).toEqual(
    expect.stringMatching(/is not called so by a state/),
  );
  expect(await ask('match.compound', ['G@os:Debian or P@os:(a+)+$'])).toEqual(
    expect.stringMatching(/no expression/),
  );
  expect(await ask('slsutil.file_exists', ['salt://from-a-grain'])).toEqual(
    expect.stringMatching(/not called so/),
  );
  expect(await ask('match.list', ['web1'])).toEqual(
    expect.stringMatching(/is not called by a state/),
  );
});

test.each(['match.pcre', 'match.grain_pcre', 'slsutil.banner', 'slsutil.findup', 'sdb.get'])(
  'a state that calls %s does not compile',
  fun => {
    expect(() => checkFunctions([chunk({ [fun]: ['x'] })], [])).toThrow(/cannot be called/);
  },
);

test('formats are read and written for file.serialize, and those only that a host lacks', async () => {
  const serialize = chunk({ state: 'file', fun: 'serialize', name: '/x' });
  const { ask } = site([serialize]);
  expect(await ask('slsutil.deserialize', ['yaml', 'a: [1]'])).toEqual({ a: [1] });
  expect(await ask('slsutil.serialize', ['python', { a: 1 }])).toBe("{'a': 1}");
  expect(await ask('slsutil.deserialize', ['toml', 'a b = 1'])).toMatch(/^toml: Invalid TOML.*\.$/);
  for (const format of ['configparser', 'plist', 'json', 'keyvalue'])
    expect(await ask('slsutil.deserialize', [format, ''])).toMatch(/does not take this format/);
});

test('a host has its pillar compiled as often as its states may need', async () => {
  const reload = chunk({ state: 'cmd', reload_pillar: true });
  const { ask, calls } = site([reload, chunk({ 'saltutil.refresh_pillar': [] })]);
  for (let at = 0; at < 40; at += 1) await ask('saltutil.refresh_pillar');
  expect(await ask('saltutil.pillar_refresh')).toMatch(/was called too often/);
  expect(calls).toHaveLength(18);
});

const nested = (depth: number): unknown => {
  let value: unknown = 1;
  for (let at = 0; at < depth; at += 1) value = at % 2 ? [value] : { a: value };
  return value;
};
const million = 'x'.repeat(1_000_000);
const documents: readonly [string, string][] = [
  ['yaml', `a: &a [${'x,'.repeat(900)}x]\nb: [${'*a,'.repeat(900)}*a]\n`],
  ['yaml', 'a: 1\n'.repeat(50_000)],
  ['yaml', '['.repeat(250_000)],
  ['yaml', `[${'a,'.repeat(120_000)}]`],
  ['yamlex', '!aggregate a: !aggregate [1]\n'.repeat(8000)],
  ['toml', `a${'.a'.repeat(120_000)} = 1`],
  ['toml', '[[a]]\n'.repeat(40_000)],
];

test.each<[string, string, readonly unknown[], PlainDict?]>([
  ['a long key', 'pillar.get', [million]],
  ['a long delimiter', 'pillar.get', ['a', ''], { delimiter: million }],
  ['a key that is no scalar', 'pillar.get', [{ a: 1 }]],
  ['a long default', 'config.get', ['a', million]],
  ['a deep default', 'config.get', ['a', nested(100_000)]],
  ['a deep value', 'defaults.deepcopy', [nested(1000)]],
  ['many values', 'slsutil.merge_all', [Array.from({ length: 1_000_000 }, () => 1)]],
  ['many keys', 'pillar.item', Array.from({ length: 100_000 }, (_, at) => `a${at}`)],
  [
    'many words',
    'config.get',
    ['a'],
    Object.fromEntries(Array.from({ length: 9999 }, (_, i) => [`k${i}`, 1])),
  ],
  ['a long prefix', 'cp.list_master', ['base', million]],
  ['a long pattern', 'pillar.filter_by', [{ [million]: 1 }]],
  ['a long text to log', 'log.info', [million]],
  ['a long name', million, []],
  ...documents.map(([format, text], at): [string, string, readonly unknown[]] => [
    `document ${at + 1} of ${format}`,
    'slsutil.deserialize',
    [format, text],
  ]),
  ['a long document', 'slsutil.deserialize', ['yaml', million]],
  ['a deep value to write', 'slsutil.serialize', ['python', nested(5000)]],
])('%s costs little', async (_, fun, args, kwargs = {}) => {
  const { ask } = site([chunk({ state: 'file', fun: 'serialize', name: '/x' })]);
  const started = process.cpuUsage();
  const answer = await ask(fun, args, kwargs);
  const { user, system } = process.cpuUsage(started);
  if (fun !== 'slsutil.deserialize') expect(answer).toBeTypeOf('string');
  expect(JSON.stringify(answer).length).toBeLessThan(fun.startsWith('slsutil') ? 1e6 : 2000);
  // A few times what it takes on a slow machine; without the bounds some take minutes.
  expect((user + system) / 1000).toBeLessThan(1500);
});

test('a malformed call is refused', async () => {
  const { ask } = site();
  for (const [fun, args, kwargs] of [
    [1, [], {}],
    ['pillar.get', 'abc', {}],
    ['pillar.get', { length: 1e9 }, {}],
    ['pillar.get', [], []],
    ['pillar.get', [], null],
  ])
    expect(await ask(fun, args, kwargs)).toMatch(/^The parameters of "control.call" are malformed/);
});
