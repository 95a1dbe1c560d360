import { expect, test } from 'vitest';
import { stateSchemas } from '../../../src/data/signatures/json-schema.ts';
import {
  argspecs,
  brokenModules,
  docs,
  functionNames,
  moduleNames,
  synced,
  syncedAll,
} from '../../../src/data/signatures/module-docs.ts';
import type { ModuleMeta } from '../../../src/protocol/meta.ts';

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

test('sys.doc returns text, parameters and examples', () => {
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

test('sys.state_schema returns a JSON Schema of the arguments with types, defaults and docs', () => {
  const state: ModuleMeta = {
    kind: 'state',
    file: 'thing',
    path: 'thing.ts',
    builtin: true,
    functions: [
      {
        name: 'made',
        exportName: 'made',
        doc: 'Makes it.',
        line: 1,
        signature: {
          positional: [
            { name: 'name', type: 'string' },
            { name: 'size', type: 'number' },
            { name: 'kind', type: "'a' | 'b'", optional: true, default: 'a', doc: 'Which.' },
            { name: 'all', type: 'string[]', optional: true },
          ],
        },
      },
    ],
  };
  const [schema, ...others] = stateSchemas([...modules, state], 'thing.made');
  expect(others).toEqual([]);
  const texts = ['string', 'number', 'boolean'];
  expect(schema).toMatchObject({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'thing.made',
    description: 'Makes it.',
    type: 'object',
    properties: {
      name: { type: texts },
      size: { anyOf: [{ type: ['number', 'string'] }, { pattern: '^__slot__:' }] },
      kind: { anyOf: [{ enum: ['a', 'b'] }, {}, {}], default: 'a', description: 'Which.' },
      all: {
        anyOf: [
          { type: 'array', items: { type: texts } },
          { type: 'object', maxProperties: 0 },
          { type: [...texts, 'null'] },
        ],
      },
    },
    required: ['size'],
    'x-ordering': ['name', 'size', 'kind', 'all'],
    additionalProperties: false,
  });
  expect(argspecs([{ ...state, functions: [] }], 'state', 'thing')).toEqual({});
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

test("saltutil.sync_* return the user's modules of each kind", () => {
  expect(synced(modules, 'modules')).toEqual(['modules.lumberjack']);
  expect(syncedAll(modules)).toMatchObject({ states: ['states.cheese'], grains: [] });
  expect(brokenModules(modules)).toEqual(["The exec module 'typo' was left out: bad (typo.ts:1)"]);
});
