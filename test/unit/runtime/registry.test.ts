import { expect, test } from 'vitest';
import { type Files, type Opened, workshop } from '../../bundle/workshop.ts';

/** Only the built-in modules that these tests call or replace: all of them take seconds to bundle. */
const builtins = ['cmd', 'pillar', 'test'];

const opened = (files: Files): Promise<Opened> => workshop(files, { builtins }).open();

const call = ({ registry, run }: Opened, name: string, ...args: unknown[]): Promise<unknown> =>
  run({}, async () => registry.salt[name]?.(...args));

const reason = ({ registry, run }: Opened, kind: 'exec' | 'state', name: string) =>
  run({}, async () => {
    const found = await registry.resolve(kind, name);
    return found.ok ? 'ok' : found.reason;
  });

test('__virtual__ answers with a name, true, false or false and a reason', async () => {
  const host = await opened({
    'salt/_modules/orig.ts': `export const __virtual__ = () => 'renamed'; export const go = () => 'gone';`,
    'salt/_modules/yes.ts': `export const __virtualname__ = 'agreed';
      export const __virtual__ = async () => true; export const go = () => 'agreed';`,
    'salt/_modules/computed.ts': `const os = () => 'de' + 'bian'; export const __virtual__ = () => os(); export const go = () => 'computed';`,
    'salt/_modules/summed.ts': `export const __virtual__ = async () => 'su' + 'm'; export const go = () => 'summed';`,
    'salt/_states/vfalse.ts': `export const __virtual__ = () => [false, 'the frobnicator is missing']; export const go = () => ({});`,
    'salt/_states/vfalse2.ts': `export const __virtual__ = () => false; export const go = () => ({});`,
    'salt/_modules/cheese.ts': `export const __virtual__ = () => [false, 'enzymes unavailable']; export const slice = () => 1;`,
    'salt/_modules/thrower.ts': `export const __virtual__ = () => { throw new Error('no luck'); }; export const go = () => 1;`,
  });
  expect(await call(host, 'renamed.go')).toBe('gone');
  expect(await reason(host, 'exec', 'orig.go')).toBe(
    "'orig.go' is not available: this module goes by the name 'renamed'",
  );
  expect(await call(host, 'agreed.go')).toBe('agreed');
  expect(await call(host, 'debian.go')).toBe('computed');
  expect(await call(host, 'sum.go')).toBe('summed');
  expect(await reason(host, 'state', 'vfalse.go')).toBe(
    "'vfalse' __virtual__ returned False: the frobnicator is missing",
  );
  expect(await reason(host, 'state', 'vfalse2.go')).toBe("'vfalse2' __virtual__ returned False");
  expect(await reason(host, 'exec', 'cheese.slice')).toBe(
    "'cheese.slice' is not available: enzymes unavailable",
  );
  expect(await reason(host, 'exec', 'thrower.go')).toMatch(
    /^'thrower\.go' is not available: no luck/,
  );
});

test('a state asks in __virtual__ whether an execution function is there, async ones too', async () => {
  const state = (fun: string): string => `import { __salt__ } from 'tsalt-ssh/module';
    export const __virtual__ = () => ('${fun}' in __salt__ ? true : [false, 'no ${fun}']);
    export const go = () => 1;`;
  const host = await opened({
    'salt/_modules/sync.ts': 'export const f = () => 1;',
    'salt/_modules/slow.ts': `export const __virtual__ = async () => { await null; return true; }; export const f = () => 1;`,
    'salt/_modules/never.ts': `export const __virtual__ = async () => { await null; return false; }; export const f = () => 1;`,
    'salt/_states/a.ts': state('sync.f'),
    'salt/_states/b.ts': state('slow.f'),
    'salt/_states/c.ts': state('never.f'),
    'salt/_states/d.ts': state('sync.g'),
  });
  expect(await reason(host, 'state', 'a.go')).toBe('ok');
  expect(await reason(host, 'state', 'b.go')).toBe('ok');
  expect(await reason(host, 'state', 'c.go')).toMatch(/no never\.f$/);
  expect(await reason(host, 'state', 'd.go')).toMatch(/no sync\.g$/);
});

test('of several modules with one virtual name the one that agrees is taken, providers decide otherwise', async () => {
  const provider = (
    name: string,
    os: string,
  ): string => `import { __grains__ } from 'tsalt-ssh/module';
    export const __virtualname__ = 'box';
    export const __virtual__ = () => (__grains__.os === '${os}' ? __virtualname__ : [false, 'only on ${os}']);
    export const which = () => '${name}';`;
  const host = await opened({
    'salt/_modules/debbox.ts': provider('debbox', 'Debian'),
    'salt/_modules/winbox.ts': provider('winbox', 'Windows'),
    'salt/_states/box.ts': `import { __salt__ } from 'tsalt-ssh/module';
      export const made = async (name: string) => ({ name, comment: await __salt__['box.which']() });`,
  });
  const { registry, run } = host;
  expect(await call(host, 'box.which')).toBe('debbox');
  expect(await run({}, () => registry.provider('box'))).toBe('debbox');
  expect(await run({}, () => registry.provider('nobox'))).toBe('');
  const other = { opts: { id: 'x', test: false, saltenv: 'base', providers: { box: 'winbox' } } };
  expect(await run(other, async () => registry.salt['box.which']?.())).toBe('winbox');
  const state = (options: object) =>
    run({}, async () => {
      const found = await registry.resolve('state', 'box.made', options);
      return found.ok ? await found.call([], { name: 'n' }) : found.reason;
    });
  expect(await state({})).toEqual({ name: 'n', comment: 'debbox' });
  expect(await state({ provider: 'winbox' })).toEqual({ name: 'n', comment: 'winbox' });
  expect(await state({ providers: { box: 'winbox' } })).toEqual({ name: 'n', comment: 'winbox' });
});

test("a user's module replaces the built-in one of its name", async () => {
  const host = await opened({ 'salt/_modules/cmd.ts': `export const run = () => 'mine';` });
  expect(await call(host, 'cmd.run')).toBe('mine');
  expect(await reason(host, 'exec', 'cmd.run_all')).toBe("'cmd.run_all' is not available.");
});

test('aliases are the names, private functions are not there', async () => {
  const host = await opened({
    'salt/_modules/mm.ts': `export const __func_alias__ = { set_: 'set', import_: 'import' };
      export const set_ = (k: string, { v = 5 }: { v?: number } = {}) => ({ [k]: v });
      export const import_ = () => 'imported';
      export const _private = () => 'no';`,
  });
  expect(await call(host, 'mm.set', 'k', { v: 6 })).toEqual({ k: 6 });
  expect(await call(host, 'mm.import')).toBe('imported');
  expect(await reason(host, 'exec', 'mm.set_')).toBe("'mm.set_' is not available.");
  expect(await reason(host, 'exec', 'mm._private')).toBe("'mm._private' is not available.");
  expect(host.registry.names('exec')).toContain('mm.set');
});

test('__init__ runs once, with the options', async () => {
  const host = await opened({
    'salt/_modules/cheese.ts': `let foreign = 0;
      export const __init__ = async (opts: any) => { if (opts['cheese.allow_foreign']) foreign += 1; };
      export const count = () => foreign;`,
  });
  const opts = { id: 'x', test: false, saltenv: 'base', 'cheese.allow_foreign': true };
  const ask = () => host.run({ opts }, async () => host.registry.salt['cheese.count']?.());
  expect(await ask()).toBe(1);
  expect(await ask()).toBe(1);
});

test('depends() takes a function away, or puts its fallback in place', async () => {
  const host = await opened({
    'salt/_modules/dep.ts': `import { depends } from 'tsalt-ssh/module';
      export const sh = depends('sh', (a: string) => a);
      export const gone = depends('no-such-command', (a: string) => a);
      export const fallen = depends('no-such-command', (a: string) => a, { fallback: () => 'needs it' });
      export const never = depends(false, () => 1);
      export const asked = depends(async () => true, () => 'asked');
      export const salty = depends('dep.sh', 'cmd.run', () => 'salty');`,
  });
  expect(await call(host, 'dep.sh', 'x')).toBe('x');
  expect(await reason(host, 'exec', 'dep.gone')).toBe(
    "'dep.gone' is not available: it needs 'no-such-command'",
  );
  expect(await call(host, 'dep.fallen', 'x')).toBe('needs it');
  expect(await reason(host, 'exec', 'dep.never')).toBe(
    "'dep.never' is not available: a dependency is missing",
  );
  expect(await call(host, 'dep.asked')).toBe('asked');
  expect(await call(host, 'dep.salty')).toBe('salty');
  host.run({}, () => {
    expect('dep.sh' in host.registry.salt).toBe(true);
    expect('dep.gone' in host.registry.salt).toBe(false);
  });
});

test('keywords between modules: a trailing object, or kwargs() beyond doubt', async () => {
  const host = await opened({
    'salt/_modules/k.ts': `import { __salt__, kwargs } from 'tsalt-ssh/module';
      export const show = (name: string, value: unknown = 'none', { deep = false }: { deep?: boolean } = {}) => [name, value, deep];
      export const calls = async () => [
        await __salt__['k.show']('a', { deep: true }),
        await __salt__['k.show']('a', { x: 1 }),
        await __salt__['k.show']('a', { deep: 'x' }, kwargs({ deep: true })),
        await __salt__['k.show']('a', 'v', { deep: true }),
        await __salt__['k.show']({ name: 'b', value: 2 }),
      ];
      export const typo = () => __salt__['k.show']('a', 'v', { depe: true });`,
  });
  expect(await call(host, 'k.calls')).toEqual([
    ['a', 'none', true],
    ['a', { x: 1 }, false],
    ['a', { deep: 'x' }, true],
    ['a', 'v', true],
    ['b', 2, false],
  ]);
  await expect(call(host, 'k.typo')).rejects.toThrow(
    "'depe' is an invalid keyword argument for 'k.show' (did you mean 'deep'?)",
  );
});

test('functions of the control node are asked for there, module functions win', async () => {
  const shop = workshop(
    { 'salt/_modules/pillar.ts': `export const mine = () => 'host';` },
    { builtins },
  );
  const { open } = await import('../../bundle/workshop.ts');
  const host = open(await shop.build([{ name: 'pillar.get' }, { name: 'pillar.mine' }]));
  const asked: unknown[] = [];
  const control = {
    request: async <T>(method: string, params: unknown): Promise<T> => {
      asked.push([method, params]);
      return 'answer' as T;
    },
  };
  const run = <T>(name: string, ...args: unknown[]) =>
    host.run({ control }, async () => (await host.registry.salt[name]?.(...args)) as T);
  expect(await run('pillar.mine')).toBe('host');
  expect(await run('pillar.get', 'a:b', { default: 1 })).toBe('answer');
  expect(asked).toEqual([
    ['control.call', { fun: 'pillar.get', args: ['a:b'], kwargs: { default: 1 } }],
  ]);
  await expect(call(host, 'pillar.get', 'a')).rejects.toThrow(
    "'pillar.get' needs the control node",
  );
});

test('helpers in _utils are called as they are', async () => {
  const host = await opened({
    'salt/_utils/my_util.ts': 'export const helper = (a: number, b: object) => [a, b];',
    'salt/_modules/u.ts': `import { __utils__ } from 'tsalt-ssh/module';
      export const go = () => __utils__['my_util.helper'](1, { c: 2 });`,
  });
  expect(await call(host, 'u.go')).toEqual([1, { c: 2 }]);
});

test('hooks of a state module are found and are not states', async () => {
  const host = await opened({
    'salt/_states/s.ts': `export const go = (name: string) => ({ name });
      export const mod_init = (low: object) => true;
      export const mod_watch = (name: string, { sfun }: { sfun?: string } = {}) => ({ name, sfun });`,
  });
  const { registry, run } = host;
  expect(registry.names('state')).toContain('s.go');
  expect(registry.names('state')).not.toContain('s.mod_init');
  expect(await run({}, async () => (await registry.hook('s', 'mod_init'))?.({}))).toBe(true);
  expect(await run({}, () => registry.hook('s', 'mod_aggregate'))).toBeUndefined();
  const watch = await run({}, () => registry.resolve('state', 's.mod_watch'));
  expect(watch.ok && (await watch.call([], { name: 'n', sfun: 'go' }))).toEqual({
    name: 'n',
    sfun: 'go',
  });
});

test('CommonJS modules and modules in folders work, with packages they bring', async () => {
  const host = await opened({
    'salt/_modules/old.cjs': `const fs = require('node:fs');
      /** Old.
       * @param name who */
      exports.greet = function (name, { loud = false } = {}) { return loud ? name.toUpperCase() : name; };
      module.exports.there = () => fs.existsSync('/');`,
    'salt/_modules/folder/index.ts': `import { pad } from 'tiny-pad'; import { two } from './two.ts';
      export const go = () => pad('x') + two;`,
    'salt/_modules/folder/two.ts': 'export const two = 2;',
    'salt/_modules/node_modules/tiny-pad/package.json': '{"name":"tiny-pad","main":"main.js"}',
    'salt/_modules/node_modules/tiny-pad/main.js': 'exports.pad = text => `[${text}]`;',
    'salt/_modules/my_cloud/my_resource.mjs': 'export const get = name => name;',
    'dev/_modules/only_dev.js': 'export const go = () => "dev";',
    'dev/_modules/old.cjs': 'exports.greet = () => "wrong";',
  });
  expect(await call(host, 'old.greet', 'bob', { loud: true })).toBe('BOB');
  expect(await call(host, 'old.there')).toBe(true);
  expect(await call(host, 'folder.go')).toBe('[x]2');
  expect(await call(host, 'my_cloud.my_resource.get', 'n')).toBe('n');
  expect(await call(host, 'only_dev.go')).toBe('dev');
});

test('the caller of a missing helper learns why', async () => {
  const { registry, run } = await opened({
    'salt/_utils/closed.ts': `export const __virtual__ = () => [false, 'closed today']; export const f = () => 1;`,
    'salt/_utils/open.ts': `export const f = () => 1; export const _g = () => 2;`,
  });
  const helper = (name: string) => run({}, () => (registry.utils[name] as () => unknown)());
  expect(helper('open.f')).toBe(1);
  expect(() => helper('closed.f')).toThrow("'closed.f' is not available: closed today");
  expect(() => helper('open._g')).toThrow("'open._g' is not available.");
  expect(
    run({}, () => ['open.f', 'open.x', 'closed.f'].map(name => name in registry.utils)),
  ).toEqual([true, false, false]);
});
