import { expect, test } from 'vitest';
import { quickCheckOf, setQuickCheck } from '../../../src/modules/quick-check.ts';
import type { ManifestModule } from '../../../src/protocol/manifest.ts';
import type { Plain, PlainDict } from '../../../src/protocol/plain.ts';
import { applyContracts } from '../../../src/runtime/contracts.ts';
import { type Files, type Opened, workshop } from '../../bundle/workshop.ts';
import { nothing } from '../../helpers/nothing.ts';

/** Only the built-in modules that these tests call or replace: all of them take seconds to bundle. */
const builtins = ['state', 'test'];

const opened = (files: Files): Promise<Opened> => workshop(files, { builtins }).open();

/** A resource whose instances live in `__context__`. */
const resource = `
import { __context__, ctx } from 'tsalt-ssh/module';
export const __contracts__ = ['auto_state', 'soft_fail'];
export const __func_alias__ = { list_: 'list', delete_: 'delete' };
const all = () => (__context__.all ??= {});
const log = what => (__context__.log ??= []).push(what);
const ok = ret => ({ result: true, comment: '', ret });
export const get = async (name: string) => { if (name === 'bad') throw new Error('no network'); return ok(all()[name] ?? {}); };
export const list_ = async () => ok(all());
export const create = async (name: string, { size = 1, tags }: { size?: number; tags?: object }) => {
  log('create'); all()[name] = { size, ...(tags ? { tags } : {}), id: 7 }; return ok(null); };
export const update = async (name: string, { size, tags }: { size?: number; tags?: object }) => {
  log(['update', ctx.before.size]); Object.assign(all()[name], size ? { size } : {}, tags ? { tags } : {}); return ok(null); };
export const delete_ = async (name: string) => { log('delete'); delete all()[name]; return ok(null); };
`;

const cloud = { 'salt/_modules/my_cloud/my_resource.ts': resource };

const stateCaller = ({ registry, run }: Opened, context: PlainDict, test = false) => {
  const opts = { id: 'x', test, saltenv: 'base' };
  return (fun: string, kwargs: PlainDict): Promise<unknown> =>
    run({ context, opts }, async () => {
      const found = await registry.resolve('state', `my_cloud.my_resource.${fun}`);
      if (!found.ok) throw new Error(found.reason);
      return found.call([], kwargs);
    });
};

test('auto_state makes present, absent and describe of get, list, create, update and delete', async () => {
  const host = await opened(cloud);
  const context: { all?: Plain; log?: Plain } & PlainDict = {};
  const state = stateCaller(host, context);
  expect(await state('present', { name: 'a', size: 2 })).toEqual({
    name: 'a',
    result: true,
    comment: "Created 'a'",
    changes: { new: { size: 2, id: 7 } },
  });
  expect(await state('present', { name: 'a', size: '2' })).toEqual({
    name: 'a',
    result: true,
    comment: 'a is already in the correct state',
    changes: {},
  });
  expect(await state('present', { name: 'a', size: 3 })).toMatchObject({
    result: true,
    changes: { old: { size: 2 }, new: { size: 3 } },
  });
  expect(context.log).toEqual(['create', ['update', 2]]);
  expect(await state('describe', {})).toEqual({
    a: { 'my_cloud.my_resource.present': [{ name: 'a' }, { size: 3 }] },
  });
  expect(await state('absent', { name: 'a' })).toEqual({
    name: 'a',
    result: true,
    comment: "Deleted 'a'",
    changes: { old: { size: 3, id: 7 } },
  });
  expect(await state('absent', { name: 'a' })).toMatchObject({
    result: true,
    comment: 'a is already absent',
    changes: nothing,
  });
});

test('auto_state changes nothing in test mode and says what would change', async () => {
  const host = await opened(cloud);
  const context = { all: { b: { size: 1, tags: { x: '1', y: '2' }, id: 7 } } };
  const before = structuredClone(context);
  const state = stateCaller(host, context, true);
  expect(await state('present', { name: 'a', size: 2 })).toMatchObject({
    result: null,
    changes: { new: { size: 2 } },
  });
  expect(await state('present', { name: 'b', tags: { x: '1', y: '3' } })).toMatchObject({
    result: null,
    changes: { old: { tags: { y: '2' } }, new: { tags: { y: '3' } } },
  });
  expect(await state('present', { name: 'b', size: 1 })).toMatchObject({
    result: true,
    changes: nothing,
  });
  expect(await state('absent', { name: 'b' })).toMatchObject({ result: null });
  expect(context).toEqual(before);
});

test('soft_fail turns an error into a return', async () => {
  const host = await opened({
    ...cloud,
    'salt/_states/soft.ts': `export const __contracts__ = ['soft_fail'];
      export const go = (name: string) => { throw new Error('oops'); };`,
  });
  expect(await stateCaller(host, {})('present', { name: 'bad' })).toEqual({
    name: 'bad',
    result: false,
    comment: 'Error: no network',
    changes: {},
  });
  const { registry, run } = host;
  expect(await run({}, async () => registry.salt['my_cloud.my_resource.get']?.('bad'))).toEqual({
    result: false,
    comment: 'Error: no network',
    ret: null,
  });
  expect(await run({}, async () => registry.states['soft.go']?.('n'))).toEqual({
    name: 'n',
    result: false,
    comment: 'Error: oops',
    changes: {},
  });
});

test('returns refuses what is not a return', async () => {
  const { registry, run } = await opened({
    'salt/_modules/r.ts': `export const __contracts__ = ['returns']; export const go = () => ({ result: true });`,
    'salt/_states/r.ts': `export const __contracts__ = ['returns']; export const go = (name: string) => ({ name, result: true, changes: {} });`,
  });
  await expect(run({}, async () => registry.salt['r.go']?.())).rejects.toThrow(
    "'r.go' does not hold the contract 'returns': its return must be a dictionary with result, comment, ret; it lacks comment, ret",
  );
  await expect(run({}, async () => registry.states['r.go']?.('n'))).rejects.toThrow(
    'it lacks comment',
  );
});

test('returns is implied by contracts of any kind, and by none of them', async () => {
  const { registry, run } = await opened({
    'salt/_modules/soft.ts': `export const __contracts__ = ['soft_fail']; export const go = () => 1;`,
    'salt/_modules/none.ts': `export const __contracts__ = []; export const go = () => 1;`,
    'salt/_modules/free.ts': `export const go = () => 1;`,
    'salt/_modules/text.ts': `export const __contracts__ = 'soft_fail'; export const go = () => 1;`,
  });
  const call = (name: string) => run({}, async () => registry.salt[name]?.());
  for (const name of ['soft.go', 'none.go'])
    await expect(call(name)).rejects.toThrow("does not hold the contract 'returns'");
  expect(await call('free.go')).toBe(1);
  await expect(call('text.go')).rejects.toThrow(
    "`__contracts__` must be a list, such as ['soft_fail']",
  );
});

test('a broken contract is reported at load, with all that is missing', async () => {
  const { registry, run } = await opened({
    'salt/_modules/half.ts': `export const __contracts__ = ['auto_state'];
      export const get = (id: string) => ({}); export const create = (name: string) => ({});
      export const update = (name: string) => ({});`,
    'salt/_states/res.ts': `export const __contracts__ = ['resource']; export const present = (name: string) => ({});`,
    'salt/_states/odd.ts': `export const __contracts__ = ['nosuch']; export const go = () => ({});`,
  });
  const reason = (kind: 'exec' | 'state', name: string) =>
    run({}, async () => {
      const found = await registry.resolve(kind, name);
      return found.ok ? 'ok' : found.reason;
    });
  const half = await reason('exec', 'half.get');
  expect(half).toMatch(/^'half\.get' is not available: it does not hold its contracts: /);
  expect(half).toContain("contract 'auto_state' wants get(name): 'get' has no parameter 'name'");
  expect(half).toContain("contract 'auto_state' wants a function list()");
  expect(half).toContain("contract 'auto_state' wants a function delete(name)");
  expect(half).not.toContain('wants a function create');
  expect(await reason('state', 'res.present')).toMatch(
    /wants a function absent\(name\); .*describe\(\)/,
  );
  expect(await reason('state', 'odd.go')).toContain("there is no contract 'nosuch'");
});

test("a user's own contract wraps calls, overrides soft_fail for its function, and only one may", async () => {
  const { registry, run } = await opened({
    'salt/_contracts/loud.ts': `export const sig_go = ['name'];
      export const pre = ({ args }) => { args[0] = args[0] + '!'; };
      export const call_go = async ({ call }) => ({ ...(await call()), comment: 'called' });
      export const post = ({ ret }) => ({ ...ret, ret: 'post' });`,
    'salt/_contracts/also.ts': 'export const call = ({ call }) => call();',
    'salt/_modules/a.ts': `export const __contracts__ = ['loud', 'soft_fail'];
      export const go = (name: string) => { if (name === 'bad!') throw new Error('hard'); return { result: true, comment: '', ret: name }; };
      export const other = () => { throw new Error('soft'); };`,
    'salt/_modules/b.ts': `export const __contracts__ = ['loud', 'also']; export const go = (name: string) => 1;`,
    'salt/_modules/c.ts': `export const __contracts__ = ['loud']; export const og = (name: string) => 1;`,
  });
  const call = (name: string, ...args: unknown[]) =>
    run({}, async () => registry.salt[name]?.(...args));
  expect(await call('a.go', 'x')).toEqual({ result: true, comment: 'called', ret: 'post' });
  await expect(call('a.go', 'bad')).rejects.toThrow('hard');
  expect(await call('a.other')).toMatchObject({ result: false, comment: 'Error: soft' });
  await expect(call('b.go', 'x')).rejects.toThrow("'go' has 2 call contracts; one is allowed");
  await expect(call('c.og', 'x')).rejects.toThrow("contract 'loud' wants a function go(name)");
});

const noting = (name: string): string => `
  import { __context__ } from 'tsalt-ssh/module';
  const note = (step: string, fun: string) => (__context__.notes ??= []).push('${name} ' + step + ' ' + fun);
  export const pre = ({ fun }) => note('pre', fun);
  export const pre_go = ({ fun }) => note('pre_go', fun);
  export const post = ({ fun }) => { note('post', fun); };
  export const post_go = ({ fun }) => { note('post_go', fun); };`;

test('general steps of a contract stand around the special ones, the first contract outside', async () => {
  const { registry, run } = await opened({
    'salt/_contracts/one.ts': noting('one'),
    'salt/_contracts/two.ts': noting('two'),
    'salt/_modules/a.ts': `export const __contracts__ = ['one', 'two'];
      export const go = () => ({ result: true, comment: '', ret: 1 });`,
  });
  const context: { notes?: string[] } = {};
  await run({ context }, async () => registry.salt['a.go']?.());
  expect(context.notes?.map(note => note.replace(' go', ''))).toEqual([
    'one pre_go',
    'one pre',
    'two pre_go',
    'two pre',
    'two post',
    'two post_go',
    'one post',
    'one post_go',
  ]);
});

test("contracts named init hold for the project's own modules, in their folder and below", async () => {
  const { registry, run } = await opened({
    'salt/_contracts/init.ts': noting('all'),
    'salt/_contracts/my_cloud/init.ts': noting('cloud'),
    'salt/_modules/my_cloud/net/card.ts': 'export const fetch = () => 5;',
    'salt/_modules/plain.ts': 'export const fetch = () => 6;',
  });
  const context: { notes?: string[] } = {};
  const call = (name: string) => run({ context }, async () => registry.salt[name]?.());
  expect(await call('my_cloud.net.card.fetch')).toBe(5);
  expect(context.notes).toEqual([
    'all pre fetch',
    'cloud pre fetch',
    'cloud post fetch',
    'all post fetch',
  ]);
  context.notes = [];
  expect(await call('plain.fetch')).toBe(6);
  await call('test.ping');
  expect(context.notes).toEqual(['all pre fetch', 'all post fetch']);
});

test('a contract may show by a function which parameters it wants', async () => {
  const { registry, run } = await opened({
    'salt/_contracts/shape.ts':
      'export const sig_go = (name: string, { size }: { size: number }) => undefined;',
    'salt/_modules/fits.ts': `export const __contracts__ = ['shape'];
      export const go = (name: string, { size = 1, more = 2 } = {}) => ({ result: true, comment: '', ret: size });`,
    'salt/_modules/lacks.ts': `export const __contracts__ = ['shape']; export const go = (name: string) => 1;`,
  });
  expect(await run({}, async () => registry.salt['fits.go']?.('x'))).toMatchObject({ ret: 1 });
  await expect(run({}, async () => registry.salt['lacks.go']?.('x'))).rejects.toThrow(
    "contract 'shape' wants go(name, size): 'go' has no parameter 'size'",
  );
});

test('a function under contract keeps its dependencies', async () => {
  const { registry, run } = await opened({
    'salt/_modules/a.ts': `import { depends } from 'tsalt-ssh/module';
      export const __contracts__ = ['soft_fail'];
      export const go = depends('no-such-command-here', () => ({ result: true, comment: '', ret: 1 }));`,
  });
  await expect(run({}, async () => registry.salt['a.go']?.())).rejects.toThrow(
    "'a.go' is not available: it needs 'no-such-command-here'",
  );
});

test('auto_state refuses parameters that it cannot fill', async () => {
  const answer = `({ result: true, comment: '', ret: {} })`;
  const { registry, run } = await opened({
    'salt/_modules/strict.ts': `export const __contracts__ = ['auto_state'];
      export const __func_alias__ = { list_: 'list', delete_: 'delete' };
      export const get = (name: string) => ${answer};
      export const list_ = (x: string) => ${answer};
      export const create = (name: string, required: string, { other }: { other: string }) => ${answer};
      export const update = (size: number, name: string) => ${answer};
      export const delete_ = (name: string, { force = false, why }: { force?: boolean; why?: string } = {}) => ${answer};`,
  });
  const found = await run({}, () => registry.resolve('exec', 'strict.get'));
  const reason = found.ok ? '' : found.reason;
  expect(reason).toContain("'list' must take 'x' in an options object");
  expect(reason).toContain("'create' must take 'required' in an options object");
  expect(reason).toContain("'create' must have a default for 'other'");
  expect(reason).toContain("'update' must take 'name' first, not 'size'");
  expect(reason).not.toMatch(/'get'|'delete'/);
});

test('auto_state refuses results of get and list that are not resources', async () => {
  const functions = `export const __contracts__ = ['auto_state'];
    export const __func_alias__ = { list_: 'list', delete_: 'delete' };
    const answer = (ret: unknown) => ({ result: true, comment: '', ret });
    export const get = (name: string) => answer('text');
    export const list_ = () => answer(['a']);
    export const create = (name: string) => answer(null);
    export const update = (name: string) => answer(null);
    export const delete_ = (name: string) => answer(null);`;
  const host = await opened({ 'salt/_modules/my_cloud/my_resource.ts': functions });
  const state = stateCaller(host, {});
  await expect(state('present', { name: 'a' })).rejects.toThrow("'get' of 'a' violates");
  await expect(state('absent', { name: 'a' })).rejects.toThrow("'get' of 'a' violates");
  await expect(state('describe', {})).rejects.toThrow('resources by name');
});

test('returns checks the types of what it wants', async () => {
  const { registry, run } = await opened({
    'salt/_modules/r.ts': `export const __contracts__ = ['returns'];
      export const text = () => ({ result: 'yes', comment: '', ret: 1 });
      export const none = () => ({ result: null, comment: '', ret: 1 });
      export const list = () => ({ result: true, comment: ['a', 'b'], ret: 1 });
      export const comment = () => ({ result: true, comment: { a: 1 }, ret: 1 });`,
    'salt/_states/r.ts': `export const __contracts__ = ['returns'];
      export const test = (name: string) => ({ name, result: null, comment: '', changes: {} });
      export const odd = (name: string) => ({ name: 5, result: 'no', comment: '', changes: [] });`,
  });
  const call = (name: string) => run({}, async () => registry.salt[name]?.());
  await expect(call('r.text')).rejects.toThrow(
    "'r.text' does not hold the contract 'returns': 'result' must be true or false, not 'yes'",
  );
  await expect(call('r.none')).rejects.toThrow("'result' must be true or false, not null");
  await expect(call('r.comment')).rejects.toThrow("'comment' must be a text or a list of texts");
  expect(await call('r.list')).toMatchObject({ ret: 1 });
  expect(await run({}, async () => registry.states['r.test']?.('n'))).toMatchObject({
    result: null,
  });
  await expect(run({}, async () => registry.states['r.odd']?.('n'))).rejects.toThrow(
    "'result' must be true, false or null, not 'no'; 'name' must be a text, not 5; 'changes' must be a dictionary, not a list",
  );
});

test('describe is held to its shape by its contract and by state.describe', async () => {
  const { registry, run } = await opened({
    'salt/_states/wrong.ts': `export const __contracts__ = ['describe'];
      export const describe = () => ({ x: { 'wrong.made': 'text' } });`,
    'salt/_states/free.ts': `export const describe = () => ({ x: { 'free.nosuch': [{ a: 1 }] } });`,
    'salt/_states/flat.ts': `export const describe = () => ({ x: [] });`,
  });
  const describe = (name: string) => run({}, async () => registry.salt['state.describe']?.(name));
  await expect(describe('wrong')).rejects.toThrow(
    "'wrong.describe' does not hold the contract 'describe': the arguments of 'wrong.made' of 'x' must be a list",
  );
  await expect(describe('free')).rejects.toThrow("there is no state function 'free.nosuch'");
  await expect(describe('flat')).rejects.toThrow("flat.describe: 'x' must be a dictionary");
});

test('a function under contract is called, whatever its quick check would say', () => {
  const fun = (name: string): object => ({ name, result: true, changes: {}, comment: '' });
  setQuickCheck(fun, () => 'seen');
  const source: ManifestModule = { kind: 'state', name: 'a', path: 'a.ts', functions: 'fun' };
  const [plain, held] = [{ fun }, { fun, __contracts__: ['returns'] }].map(exports =>
    applyContracts(source, exports),
  );

  expect(quickCheckOf(plain?.fun as typeof fun)).toBeDefined();
  expect(quickCheckOf(held?.fun as typeof fun)).toBeUndefined();
});
