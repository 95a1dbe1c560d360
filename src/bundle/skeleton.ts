import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { TsaltError } from '../protocol/error.ts';
import { makeFolder } from '../trust/make-folder.ts';

/** The kinds of modules that `tsalt-ssh module new KIND NAME` writes. */
export const skeletonKinds = [
  'state',
  'exec',
  'grains',
  'utils',
  'resource',
  'renderer',
  'outputter',
  'matcher',
  'pillar',
  'contract',
] as const;
type SkeletonKind = (typeof skeletonKinds)[number];

type File = { readonly path: string; readonly text: string };

/**
 * Writes a documented module and its test into a file root.
 * @param root the file root (the first of `base`)
 * @param testDir where tests go, relative paths in the test start there
 * @returns the paths that were written
 * @throws `TsaltError` when the kind or name makes no sense or a file is there already
 */
export const writeSkeleton = async (
  kind: string,
  name: string,
  { root, testDir }: { readonly root: string; readonly testDir: string },
): Promise<string[]> => {
  if (!isKind(kind))
    throw new TsaltError('skeleton-kind', `"${kind}" is not a kind of module`, {
      hint: `Kinds are: ${skeletonKinds.join(', ')}.`,
    });
  if (!/^[a-z]\w*(\.[a-z]\w*)*$/.test(name))
    throw new TsaltError('skeleton-name', `"${name}" cannot be the name of a module`, {
      hint: 'Names are small letters, digits and underscores, with dots for folders: my_cloud.disk.',
    });
  const files = skeleton(kind, name, root, testDir);
  const taken = files.find(({ path }) => existsSync(path));
  if (taken) throw new TsaltError('skeleton-exists', `${taken.path} is there already`);
  for (const { path, text } of files) {
    makeFolder(dirname(path));
    await writeFile(path, text, { flag: 'wx' });
  }
  return files.map(({ path }) => path);
};

const isKind = (kind: string): kind is SkeletonKind =>
  (skeletonKinds as readonly string[]).includes(kind);

const quote = (text: string): string => `'${text}'`;
const api = quote('tsalt-ssh/module');
const testing = quote('tsalt-ssh/testing');
const vitest = quote('vitest');

const folders: Readonly<Record<SkeletonKind, string>> = {
  state: '_states',
  exec: '_modules',
  grains: '_grains',
  utils: '_utils',
  resource: '_modules',
  renderer: '_renderers',
  outputter: '_outputters',
  matcher: '_matchers',
  pillar: '_pillar',
  contract: '_contracts',
};

const skeleton = (kind: SkeletonKind, name: string, root: string, testDir: string): File[] => {
  const file = `${name.replaceAll('.', '/')}${kind === 'matcher' ? '_match' : ''}.ts`;
  const path = join(root, folders[kind], file);
  const test = join(testDir, `${name.replaceAll('.', '_')}_${kind}.test.ts`);
  const from = relativeImport(dirname(test), path);
  return [
    { path, text: sources[kind](name) },
    { path: test, text: tests[kind](name, from) },
  ];
};

const relativeImport = (folder: string, path: string): string => {
  const up = folder.split('/');
  const down = path.split('/');
  while (up.length > 0 && up[0] === down[0]) {
    up.shift();
    down.shift();
  }
  return `${up.length === 0 ? './' : '../'.repeat(up.length)}${down.join('/')}`;
};

const sources: Readonly<Record<SkeletonKind, (name: string) => string>> = {
  state: name => `/** States of ${name}: they call the execution module ${name}. */
import { __opts__, __salt__, type StateReturn } from ${api};

/**
 * Makes sure that ${name} NAME has a value.
 *
 * @param name the name
 * @param value the desired value
 */
export const managed = async (
  name: string,
  { value = 'default' }: { value?: string } = {},
): Promise<StateReturn> => {
  const old: string | null = await __salt__['${name}.get'](name);
  if (old === value)
    return { name, changes: {}, result: true, comment: \`\${name} is in the correct state\` };
  const changes = { [name]: { old, new: value } };
  if (__opts__.test)
    return { name, changes, result: null, comment: \`\${name} would be changed\` };
  await __salt__['${name}.set'](name, value);
  return { name, changes, result: true, comment: \`\${name} was changed\` };
};
`,
  exec: name => `/**
 * ${name}: what it does.
 *
 * @maintainer you
 * @maturity new
 * @platform all
 */
import { __context__ } from ${api};

export const __func_alias__ = { set_: 'set' };

const values = (): Record<string, string> => (__context__['${name}'] ??= {});

/**
 * Returns the value of NAME; null if it has none.
 *
 * @param name the name
 * @example tsalt-ssh '*' ${name}.get x
 */
export const get = async (name: string): Promise<string | null> => values()[name] ?? null;

/**
 * Sets the value of NAME.
 *
 * @param name the name
 * @param value the new value
 * @example tsalt-ssh '*' ${name}.set x y
 */
export const set_ = async (name: string, value: string): Promise<boolean> => {
  values()[name] = value;
  return true;
};
`,
  grains: name => `/** Grains about ${name}. Every exported function gives some. */
import { existsSync } from 'node:fs';

/** The grain \`${last(name)}\`. */
export const ${last(name)} = (): { ${last(name)}: boolean } => ({ ${last(name)}: existsSync('/etc/${last(name)}') });
`,
  utils: name => `/** Helpers for modules: \`__utils__['${name}.join'](…)\`. */

/**
 * Joins words by commas.
 *
 * @param words the words to join
 */
export const join = (words: readonly string[]): string => words.join(', ');
`,
  resource:
    name => `/** ${name} under Idem's contract \`auto_state\`: ${name}.present, .absent and .describe come of it. */
import { __context__, type PlainDict } from ${api};

export const __contracts__ = ['auto_state'];
export const __func_alias__ = { list_: 'list', delete_: 'delete' };

const all = (): Record<string, PlainDict> => (__context__['${name}'] ??= {});

const done = <T>(ret: T, comment = '') => ({ result: true, comment, ret });

/**
 * Describes one; an empty dictionary if it does not exist.
 *
 * @param name the name
 */
export const get = async (name: string) => done(all()[name] ?? {});

/** Describes all, by name. */
export const list_ = async () => done(all());

/**
 * Creates one that does not exist.
 *
 * @param name the name
 * @param size its size
 */
export const create = async (name: string, { size = 1 }: { size?: number } = {}) => {
  all()[name] = { size };
  return done(null, \`Created '\${name}'\`);
};

/**
 * Changes an existing one; \`ctx.before\` is the state before.
 *
 * @param name the name
 * @param size its new size
 */
export const update = async (name: string, { size }: { size?: number } = {}) => {
  if (size !== undefined) all()[name] = { size };
  return done(null, \`Updated '\${name}'\`);
};

/**
 * Deletes an existing one.
 *
 * @param name the name
 */
export const delete_ = async (name: string) => {
  delete all()[name];
  return done(null, \`Deleted '\${name}'\`);
};
`,
  renderer:
    name => `/** The renderer ${name}: \`#!${name}\` in the first line of an SLS, or a part of a pipe. */

/**
 * Parses lines \`key = value\`.
 *
 * @param data the file's text, or the result of the renderer before this one
 */
export const render = (data: unknown): Record<string, string> =>
  Object.fromEntries(
    String(data)
      .split('\\n')
      .filter(line => line.includes('='))
      .map(line => line.split('=').map(part => part.trim())),
  );
`,
  outputter: name => `/** The outputter ${name}: \`tsalt-ssh '*' test.ping --out ${name}\`. */
import type { OutputterFunction } from ${api};

/**
 * Writes one line per host.
 *
 * @param data the returns of the hosts, by id
 * @param _options the options of the output
 */
export const output: OutputterFunction = (data, _options) =>
  Object.entries(data)
    .map(([host, value]) => \`\${host} \${JSON.stringify(value)}\\n\`)
    .join('');
`,
  matcher:
    name => `/** The matcher ${name}: \`- match: ${name}\` in the top files of states and pillar. */
import type { MatcherFunction } from ${api};

/**
 * Returns whether the id of a host starts with the target.
 *
 * @param target the target of the top file
 * @param host the host: its id, grains and pillar
 */
export const match: MatcherFunction = (target, host) => host.id.startsWith(String(target));
`,
  pillar:
    name => `/** The pillar source ${name}: \`ext_pillar: [{ ${name}: settings }]\` in tsalt.yaml. */
import type { ExtPillarFunction } from ${api};

/**
 * Returns pillar data for a host.
 *
 * @param id the host
 * @param _pillar its pillar so far
 * @param settings the settings of tsalt.yaml
 */
export const ext_pillar: ExtPillarFunction = (id, _pillar, settings) => ({
  '${name}': { id, settings },
});
`,
  contract:
    name => `/** The contract ${name}: \`export const __contracts__ = ['${name}']\` holds a module to it. */
import { type ContractFunction, log } from ${api};

/**
 * Runs before every function of the module.
 *
 * @param contract the call
 */
export const pre: ContractFunction = ({ module, fun }) => {
  log.debug(\`\${module}.\${fun} is called\`);
};

/**
 * Runs after every function of the module, and returns its result.
 *
 * @param contract the call
 */
export const post: ContractFunction = ({ ret }) => ret;
`,
};

const last = (name: string): string => name.split('.').at(-1) ?? name;

const head = (from: string, what: string): string => `import { expect, test } from ${vitest};
import ${what} from ${quote(from)};
`;

const withContext = (
  from: string,
  what: string,
): string => `import { createTestContext } from ${testing};
${head(from, what)}`;

const tests: Readonly<Record<SkeletonKind, (name: string, from: string) => string>> = {
  state: (name, from) => `${withContext(from, '{ managed }')}
const context = (value: string | null, test = false) => {
  const set: unknown[][] = [];
  const modules = {
    '${name}': { get: () => value, set: (...args: unknown[]) => set.push(args) },
  };
  return { ...createTestContext({ modules, test }), set };
};

test('a value that is already set is not changed', async () => {
  const t = context('a');
  const ret = await t.run(() => managed('x', { value: 'a' }));
  expect(ret).toMatchObject({ result: true, changes: {} });
  expect(t.set).toEqual([]);
});

test('a different value is replaced', async () => {
  const t = context('a');
  const ret = await t.run(() => managed('x', { value: 'b' }));
  expect(ret).toMatchObject({ result: true, changes: { x: { old: 'a', new: 'b' } } });
  expect(t.set).toEqual([['x', 'b']]);
});

test('test mode reports the change without making it', async () => {
  const t = context(null, true);
  const ret = await t.run(() => managed('x', { value: 'b' }));
  expect(ret).toMatchObject({ result: null, changes: { x: { old: null, new: 'b' } } });
  expect(t.set).toEqual([]);
});
`,
  exec: (name, from) => `${withContext(from, '{ get, set_ }')}
test('${name}.get returns the value that ${name}.set stored', async () => {
  const t = createTestContext();
  expect(await t.run(() => get('x'))).toBeNull();
  expect(await t.run(() => set_('x', 'y'))).toBe(true);
  expect(await t.run(() => get('x'))).toBe('y');
});
`,
  grains: (name, from) => `${head(from, `{ ${last(name)} }`)}
test('the grain ${last(name)} is true or false', () => {
  expect(typeof ${last(name)}().${last(name)}).toBe('boolean');
});
`,
  utils: (name, from) => `${head(from, '{ join }')}
test('${name}.join puts commas between words', () => {
  expect(join(['a', 'b'])).toBe('a, b');
});
`,
  resource: (name, from) => `${withContext(from, '{ create, delete_, get, list_, update }')}
test('a ${name} is created, changed, listed and deleted', async () => {
  const t = createTestContext();
  await t.run(() => create('x', { size: 2 }));
  expect((await t.run(() => get('x'))).ret).toEqual({ size: 2 });
  await t.run(() => update('x', { size: 3 }));
  expect((await t.run(() => list_())).ret).toEqual({ x: { size: 3 } });
  await t.run(() => delete_('x'));
  expect((await t.run(() => get('x'))).ret).toEqual({});
});
`,
  renderer: (name, from) => `${head(from, '{ render }')}
test('${name} makes data of lines', () => {
  expect(render('a = 1\\nb = 2')).toEqual({ a: '1', b: '2' });
});
`,
  outputter: (name, from) => `${head(from, '{ output }')}
test('${name} writes one line per host', () => {
  expect(output({ web1: true, web2: [1] }, {})).toBe('web1 true\\nweb2 [1]\\n');
});
`,
  matcher: (name, from) => `${head(from, '{ match }')}
test('${name} compares the start of the id', () => {
  const host = { id: 'web1', grains: {}, pillar: {}, delimiter: ':' };
  expect(match('web', host)).toBe(true);
  expect(match('db', host)).toBe(false);
});
`,
  pillar: (name, from) => `${head(from, '{ ext_pillar }')}
test('${name} returns the settings for a host', async () => {
  const pillar = await ext_pillar('web1', {}, { port: 80 });
  expect(pillar).toEqual({ '${name}': { id: 'web1', settings: { port: 80 } } });
});
`,
  contract: (name, from) => `${withContext(from, '{ post, pre }')}
test('${name} logs the call and keeps the result', async () => {
  const t = createTestContext();
  const call = { module: 'thing', fun: 'get', args: [], call: async () => 1, ret: 1 };
  await t.run(() => pre(call));
  expect(t.logs).toMatchObject([{ level: 'debug', message: 'thing.get is called' }]);
  expect(await t.run(() => post(call))).toBe(1);
});
`,
};
