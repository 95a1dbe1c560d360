import { expect, test } from 'vitest';
import type { ModuleMeta } from '../../../src/protocol/meta.ts';
import { workshop } from '../../bundle/workshop.ts';

const describe = (text: string, more: Record<string, string> = {}): ModuleMeta =>
  workshop({ 'salt/_modules/m.ts': text, ...more }).describe('m');

const signature = (text: string, more: Record<string, string> = {}) =>
  describe(text, more).functions[0]?.signature;

test('parameters, types, defaults and docs are read from the source', () => {
  const meta = describe(`
    /**
     * A module about things.
     *
     * @maintainer Ann <ann@example.org>, Bob
     * @maturity new
     * @depends thing-tools
     * @platform linux
     */
    import { type StateReturn } from 'tsalt-ssh/module';

    export const __virtualname__ = 'thing';
    export const __outputter__ = { make: 'txt' };

    /**
     * Makes a thing.
     *
     * @param name what to call it
     * @param size how large,
     *   in metres
     * @returns the thing
     * @example tsalt-ssh '*' thing.make x size=2
     */
    export async function make(name: string, count?: number, { size = 1, mode, tags = ['a'], when = Date.now() }:
      { size?: number; mode: string | number; tags?: string[]; when?: number }) {}
  `);
  expect(meta).toMatchObject({
    virtualname: 'thing',
    doc: 'A module about things.',
    tags: {
      maintainer: 'Ann <ann@example.org>, Bob',
      maturity: 'new',
      depends: 'thing-tools',
      platform: 'linux',
    },
    outputters: { make: 'txt' },
  });
  expect(meta.functions).toEqual([
    {
      name: 'make',
      exportName: 'make',
      doc: 'Makes a thing.',
      returns: 'the thing',
      examples: ["tsalt-ssh '*' thing.make x size=2"],
      line: 24,
      signature: {
        positional: [
          { name: 'name', type: 'string', doc: 'what to call it' },
          { name: 'count', type: 'number', optional: true },
        ],
        keywords: [
          { name: 'size', type: 'number', optional: true, default: 1, doc: 'how large, in metres' },
          { name: 'mode', type: 'string | number' },
          { name: 'tags', type: 'string[]', optional: true, default: ['a'] },
          { name: 'when', type: 'number', optional: true, default: { code: 'Date.now()' } },
        ],
      },
    },
  ]);
});

test('whole texts salt://… in the source of a module are its sources', () => {
  const { sources } = describe(`
    const folder = 'salt://b/folder';
    export const f = () => ['salt://a', "salt://b/c?saltenv=dev", \`salt://a\`, 'see salt://no'];
    export const g = (x: string) => \`salt://\${x}/y\` + 'salt://';
  `);
  expect(sources).toEqual(['salt://a', 'salt://b/c?saltenv=dev', 'salt://b/folder']);
});

test('`@unknown` says what becomes of arguments that a state does not have', () => {
  const states = describe(`
    /** @unknown ignored */
    export const lenient = (name: string) => 1;
    /** @unknown variables */
    export const template = (name: string) => 1;
    /** @unknown whatever */
    export const misspelt = (name: string) => 1;
    export const strict = (name: string) => 1;
  `);
  expect(states.functions.map(({ name, unknown }) => [name, unknown])).toEqual([
    ['lenient', 'ignored'],
    ['misspelt', undefined],
    ['strict', undefined],
    ['template', 'variables'],
  ]);
});

test('types of the same file and of imported files are followed', () => {
  expect(
    signature(
      `import type { Base, Mode } from './types.ts';
       interface Options extends Base { /** the group */ group?: string; mode: Mode }
       type Extra = Options & { size: readonly number[] };
       export const f = (name: string, { group, ...rest }: Partial<Extra>) => 1;`,
      {
        'salt/_modules/_types.ts': '',
        'salt/_modules/types.ts':
          "export interface Base { user?: string } export type Mode = 'a' | 'b' | Octal; type Octal = number;",
      },
    ),
  ).toEqual({
    positional: [{ name: 'name', type: 'string' }],
    keywords: [
      { name: 'group', type: 'string', optional: true, doc: 'the group' },
      { name: 'user', type: 'string', optional: true },
      { name: 'mode', type: "'a' | 'b' | number", optional: true },
      { name: 'size', type: 'number[]', optional: true },
    ],
  });
});

test('keys of a mapped type, of a Record and of what Pick and Omit take are followed', () => {
  const keywords = (type: string, how = '{ ...rest }') =>
    signature(`
      type Known = { a: string; b: number; 'c-d': boolean };
      type Keys = 'on' | ('off');
      export const f = (${how}: ${type}) => 1;`)?.keywords?.map(
      ({ name, type: of, optional }) => `${name}${optional ? '?' : ''}: ${of}`,
    );
  expect(keywords('{ [k in Keys]?: string }')).toEqual(['on?: string', 'off?: string']);
  expect(keywords('{ readonly [k in keyof Known]: number }')).toEqual([
    'a: number',
    'b: number',
    'c-d: number',
  ]);
  expect(keywords("{ x: 1 } & Partial<Record<Keys | 'auto', boolean>>")).toEqual([
    'x: 1',
    'on?: boolean',
    'off?: boolean',
    'auto?: boolean',
  ]);
  expect(keywords("Omit<Known, 'c-d'>")).toEqual(['a: string', 'b: number']);
  expect(keywords('Pick<Known, keyof Pick<Known, "a">>')).toEqual(['a: string']);
  expect(keywords('{ [k in Keys]?: string }', 'options')).toEqual(['on?: string', 'off?: string']);
});

test('the unreadable part of a type neither requires nor refuses arguments', () => {
  const of = (parameters: string) =>
    signature(`import type { Far } from 'some-package';
      export const f = (${parameters}) => 1;`);
  const near = { name: 'near', type: 'string' };
  expect(of('{ near, far, ...rest }: { near: string } & Far')).toEqual({
    positional: [],
    keywords: [near, { name: 'far', optional: true }],
    anyKeyword: true,
  });
  expect(of('{ near, far }: { near: string } & Far')).toEqual({
    positional: [],
    keywords: [near, { name: 'far', optional: true }],
  });
  expect(of('options: { near: string } & Far')).toEqual({
    positional: [],
    keywords: [near],
    anyKeyword: true,
  });
  expect(of('{ near }: { [k in Far]: string }')?.keywords).toEqual([
    { name: 'near', optional: true },
  ]);
});

test('any keyword: a rest in the options object, or an index signature', () => {
  expect(signature('export const f = (name, { a, ...kwargs } = {}) => 1;')).toMatchObject({
    keywords: [{ name: 'a', optional: true }],
    anyKeyword: true,
  });
  expect(
    signature(
      'export const f = (name: string, { a }: { a: number; [key: string]: unknown }) => 1;',
    ),
  ).toMatchObject({ anyKeyword: true });
  expect(signature('export const f = (kwargs) => 1;')).toEqual({
    positional: [],
    keywords: [],
    anyKeyword: true,
  });
});

test('an options object that is empty by default may have any name', () => {
  const rule = 'type Rule = { port?: number };';
  expect(signature(`${rule} export const f = (name: string, rule: Rule = {}) => 1;`)).toEqual({
    positional: [{ name: 'name', type: 'string' }],
    keywords: [{ name: 'port', type: 'number', optional: true }],
  });
  for (const dict of ['rule: Rule', 'rule: Record<string, string> = {}'])
    expect(signature(`${rule} export const f = (${dict}) => 1;`)).toMatchObject({
      positional: [{ name: 'rule' }],
    });
});

test('rest parameters are kept', () => {
  expect(signature('export function f(a: string, ...more: number[]) {}')).toEqual({
    positional: [{ name: 'a', type: 'string' }],
    rest: { name: 'more', type: 'number[]' },
  });
});

test('functions are found behind depends(), renames, re-exports, wrappers and makers', () => {
  const meta = describe(
    `import { depends } from 'tsalt-ssh/module';
     export const __func_alias__ = { list_: 'list' };
     /** Lists.
      * @param a what */
     export const list_ = depends('sh', async (a: string) => a);
     const inner = (b: number) => b;
     export { inner as outer, _hidden };
     const _hidden = 1;
     export { deep } from './deep.ts';
     export * from './all.ts';
     import { maker } from './makers.ts';
     export const made = maker({ a: 1 });
     export const notAFunction = { a: 1 };
     export type Ignored = string;`,
    {
      'salt/_modules/deep.ts': 'export function deep(c: boolean) {}',
      'salt/_modules/makers.ts':
        '/** Made. */ export const maker = (settings: object) => async (e: string) => e;',
      'salt/_modules/all.ts': '/** From all. */ export const everything = (d = 1) => d;',
    },
  );
  expect(
    meta.functions.map(({ name, signature: { positional } }) => [name, positional[0]?.name]),
  ).toEqual([
    ['deep', 'c'],
    ['everything', 'd'],
    ['list', 'a'],
    ['made', 'e'],
    ['outer', 'b'],
  ]);
  expect(meta.functions.find(({ name }) => name === 'made')?.doc).toBe('Made.');
  expect(meta.functions.find(({ name }) => name === 'list')?.doc).toBe('Lists.');
});

test('a module that reads the pillar says so', () => {
  expect(
    describe(`import { __pillar__ } from 'tsalt-ssh/module'; export const f = () => __pillar__.a;`)
      .usesPillar,
  ).toBe(true);
  expect(describe('export const f = () => 1;').usesPillar).toBeUndefined();
});

test('the description of a member of an options type is one line, as that of a parameter', () => {
  const found = signature(
    `
    import type { Login } from './login.ts';
    /** Makes. */
    export const make = ({ user = null, ...more }: Login & { host: string } = {}) => [user, more];
    `,
    {
      'salt/_modules/login.ts': `export type Login = {
        /**
         * the account to log in as,
         * which must exist
         */
        user?: string | null;
      };`,
    },
  );
  expect(found?.keywords).toEqual([
    {
      name: 'user',
      type: 'string | null',
      optional: true,
      default: null,
      doc: 'the account to log in as, which must exist',
    },
    { name: 'host', type: 'string' },
  ]);
});

test('a function under another name, or made by a maker, keeps the descriptions of parameters', () => {
  const { functions } = describe(`
    /**
     * Runs a command.
     *
     * @param name what it works on
     * @param user the account
     */
    const command = (verb: string) => async (name: string, user = 'root') => [verb, name, user];

    /**
     * Starts it.
     *
     * @param user the account that starts it
     * @example tsalt-ssh '*' m.start x
     */
    export const start = command('start');

    /** The other name of \`m.start\`. */
    export const begin = start;
  `);
  const shown = functions.map(({ name, doc, signature: { positional } }) => [
    name,
    doc,
    ...positional.map(param => param.doc),
  ]);
  expect(shown).toEqual([
    ['begin', 'The other name of `m.start`.', 'what it works on', 'the account that starts it'],
    ['start', 'Starts it.', 'what it works on', 'the account that starts it'],
  ]);
});
