import { expect, test } from 'vitest';
import {
  argspecs,
  brokenModules,
  docs,
  functionNames,
  moduleNames,
  stateSchemas,
  synced,
  syncedAll,
} from '../../src/data/signatures/module-docs.ts';
import type { ModuleMeta } from '../../src/protocol/meta.ts';

const modules: ModuleMeta[] = [
  {
    kind: 'exec',
    file: 'aptpkg',
    virtualname: 'pkg',
    path: 'aptpkg.ts',
    builtin: true,
    functions: [
      {
        name: 'install',
        exportName: 'install',
        line: 1,
        doc: 'Installs.',
        examples: ["tsalt-ssh '*' pkg.install vim"],
        signature: {
          positional: [{ name: 'name', type: 'string', doc: 'which' }],
          keywords: [{ name: 'refresh', optional: true, default: false, doc: 'first update' }],
          anyKeyword: true,
        },
      },
    ],
  },
  { kind: 'exec', file: 'lumberjack', path: 'l.zip', builtin: false, functions: [fun('is_ok')] },
  {
    kind: 'exec',
    file: 'typo',
    path: 'typo.ts',
    builtin: false,
    functions: [],
    broken: 'bad (typo.ts:1)',
  },
  {
    kind: 'state',
    file: 'cheese',
    path: 'cheese.ts',
    builtin: false,
    doc: 'Cheese.',
    tags: { maintainer: 'Ann', maturity: 'new' },
    functions: [fun('sliced')],
  },
];

function fun(name: string): ModuleMeta['functions'][number] {
  return { name, exportName: name, line: 1, doc: `${name}.`, signature: { positional: [] } };
}

test('sys.doc gives text, parameters and examples', () => {
  expect(docs(modules, 'exec', ['pkg'])).toEqual({
    'pkg.install':
      "Installs.\n\nname\n    which\n\nrefresh : False\n    first update\n\nCLI Example:\n\n    tsalt-ssh '*' pkg.install vim",
  });
  expect(Object.keys(docs(modules, 'exec'))).toEqual(['lumberjack.is_ok', 'pkg.install']);
  expect(Object.keys(docs(modules, 'exec', ['lumber*']))).toEqual(['lumberjack.is_ok']);
  expect(docs(modules, 'exec', ['nosuch'])).toEqual({});
});

test('sys.state_doc has the module with its metadata', () => {
  expect(docs(modules, 'state', ['cheese'])).toEqual({
    cheese: 'Cheese.\n\n:maintainer: Ann\n:maturity: new',
    'cheese.sliced': 'sliced.',
  });
});

test("sys.argspec has Salt's form", () => {
  expect(argspecs(modules, 'exec', 'pkg.install')).toEqual({
    'pkg.install': { args: ['name', 'refresh'], defaults: [false], varargs: null, kwargs: true },
  });
});

test('sys.state_schema has the JSON Schema that Salt writes', () => {
  const one = (type: string) => ({ type, title: 'name', description: 'name' });
  const property = { oneOf: ['boolean', 'integer', 'number', 'string'].map(one) };
  const [cheese, ...others] = stateSchemas(modules, 'cheese.sliced');
  expect(others).toEqual([]);
  const state = (positional: object[]): ModuleMeta[] => [
    {
      kind: 'state',
      file: 'thing',
      path: 'thing.ts',
      builtin: true,
      functions: [
        { name: 'made', exportName: 'made', line: 1, signature: { positional } as never },
      ],
    },
  ];
  expect(cheese).toMatchObject({ title: 'cheese.sliced', additionalProperties: false });
  expect(
    stateSchemas(
      state([
        { name: 'name' },
        { name: 'b', optional: true, default: 1 },
        { name: 'c', optional: true },
      ]),
      '',
    ),
  ).toEqual([
    {
      $schema: 'http://json-schema.org/draft-04/schema#',
      title: 'thing.made',
      description: 'thing.made',
      type: 'object',
      properties: {
        name: property,
        b: {
          oneOf: property.oneOf.map(({ type }) => ({
            type,
            title: 'b',
            description: 'b',
            default: 1,
          })),
        },
        c: { oneOf: property.oneOf.map(({ type }) => ({ type, title: 'c', description: 'c' })) },
      },
      'x-ordering': ['name', 'b', 'c'],
      additionalProperties: false,
    },
  ]);
  expect(argspecs(state([]), 'state', 'thing')).toMatchObject({ 'thing.made': { args: null } });
});

test('a glob for modules may fit one of their functions', () => {
  expect(moduleNames(modules, 'exec', ['pkg.inst*'])).toEqual(['pkg']);
  expect(moduleNames(modules, 'exec', ['l*'])).toEqual(['lumberjack']);
  expect(moduleNames(modules, 'exec', ['pkg.install'])).toEqual([]);
});

test('lists of modules and functions leave out what is broken', () => {
  expect(moduleNames(modules, 'exec')).toEqual(['lumberjack', 'pkg']);
  expect(functionNames(modules, 'exec', ['pkg.'])).toEqual(['pkg.install']);
  expect(functionNames(modules, 'state')).toEqual(['cheese.sliced']);
});

test('saltutil.sync_* tells what the user has of each kind', () => {
  expect(synced(modules, 'modules')).toEqual(['modules.lumberjack']);
  expect(syncedAll(modules)).toMatchObject({ states: ['states.cheese'], grains: [] });
  expect(brokenModules(modules)).toEqual(["The exec module 'typo' was left out: bad (typo.ts:1)"]);
});
