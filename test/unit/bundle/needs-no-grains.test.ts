import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parse } from '@babel/parser';
import { afterAll, describe, expect, test } from 'vitest';
import { describeModule } from '../../../src/bundle/describe.ts';
import { builtinMetadata } from '../../../src/bundle/metadata.ts';
import { createSources } from '../../../src/bundle/source.ts';
import type { ModuleKind } from '../../../src/protocol/meta.ts';
import { workshop } from '../../bundle/workshop.ts';

const dir = mkdtempSync(join(tmpdir(), 'tsalt-no-grains-'));
afterAll(() => rmSync(dir, { recursive: true }));

/** The functions of a built-in module that need no grains, by the module's files. */
const grainless = (files: Record<string, string>, kind: ModuleKind = 'exec'): string[] => {
  const root = mkdtempSync(join(dir, 'root-'));
  const write = (name: string, text: string): string => {
    const path = join(root, 'modules', name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  };
  cpSync(new URL('../../../src/modules/api.ts', import.meta.url), write('api.ts', ''));
  const paths = Object.entries(files).map(([name, text]) => ({ name, path: write(name, text) }));
  const own = paths.filter(({ name }) => name.startsWith('m/')).map(({ path }) => path);
  const found = { kind, name: 'm', files: own, builtin: true, home: 'modules' } as never;
  const { meta } = describeModule(createSources(parse), found);
  expect(meta.broken).toBeUndefined();
  return meta.functions.filter(one => one.needsNoGrains).map(({ name }) => name);
};

const one = 'export const one = () => 1;\n';

test('functions of the test module that ask nobody need no grains, the others do', () => {
  const functions = builtinMetadata().find(
    ({ kind, file }) => kind === 'exec' && file === 'test',
  )?.functions;
  const named = (needsNone: boolean) =>
    functions?.filter(fun => (fun.needsNoGrains === true) === needsNone).map(({ name }) => name);

  expect(named(true)).toEqual(
    expect.arrayContaining(['ping', 'version', 'echo', 'true', 'sleep', 'arg', 'retcode']),
  );
  expect(named(false)).toEqual([
    'attr_call',
    'conf_test',
    'cross_test',
    'module_report',
    'opts_pkg',
    'provider',
    'providers',
    'try',
  ]);
});

test('each file of a module is judged by itself', () => {
  expect(
    grainless({
      'm/one.ts': one,
      'm/two.ts':
        "import { __grains__ } from '../api.ts';\nexport const two = () => __grains__.os;\n",
    }),
  ).toEqual(['one']);
});

test.each([
  '__grains__',
  '__salt__',
  '__states__',
  '__utils__',
  '__pillar__',
  'ctx',
  'depends',
  'ensure',
  'getContext',
  'untyped',
  'withContext',
])('a function that imports %s, itself or by another file, may need grains', name => {
  const uses = `import { ${name} } from 'API';\nexport const used = () => ${name};\n`;
  expect(grainless({ 'm/one.ts': one + uses.replace('API', '../api.ts') })).toEqual([]);
  expect(
    grainless({
      'm/one.ts': `import { far } from '../_shared/far.ts';\n${one}export const two = () => far;\n`,
      '_shared/far.ts': "export { used as far } from './deep/used.ts';\n",
      '_shared/deep/used.ts': uses.replace('API', '../../api.ts'),
    }),
  ).toEqual([]);
});

test.each([
  ['the whole api', "import * as api from '../api.ts';\nexport const two = () => api;\n"],
  ['an export of the api', "export { __grains__ as two } from '../api.ts';\n"],
  ['a dynamic import', "export const two = () => import('../api.ts');\n"],
  ['require', "export const two = () => require('../api.ts');\n"],
  ['a package', "import two from 'package';\nexport const three = () => two;\n"],
])('a file with %s shows too little', (_, text) => {
  expect(grainless({ 'm/one.ts': one + text })).toEqual([]);
});

test('types, errors, options and the log bring no grains', () => {
  const imports =
    "import { __context__, __opts__, CommandExecutionError, type Grains, kwargs, log, SaltInvocationError } from '../api.ts';\n" +
    "import type { SaltTable } from '../api.ts';\nimport { join } from 'node:path';\n";
  expect(grainless({ 'm/one.ts': imports + one })).toEqual(['one']);
});

test('a module that decides on the host whether it is loaded needs grains for it', () => {
  const rest = { 'm/one.ts': one };
  expect(grainless({ ...rest, 'm/two.ts': 'export const __virtual__ = () => true;\n' })).toEqual(
    [],
  );
  expect(grainless({ ...rest, 'm/two.ts': 'export const __init__ = () => null;\n' })).toEqual([]);
  const alias = "import { __grains__ } from '../api.ts';\nexport const __func_alias__ = {};\n";
  expect(
    grainless({ ...rest, 'm/two.ts': `${alias}export const os = () => __grains__.os;\n` }),
  ).toEqual([]);
});

describe('states', () => {
  const state = (imports: string, body: string): string[] =>
    grainless(
      { 'm/one.ts': `import { ${imports} } from '../api.ts';\nexport const one = ${body};\n` },
      'state',
    );

  test.each([
    ['__salt__', "async () => __salt__['cmd.run']('id')"],
    ['__salt__, type Plain', 'async (fun: string) => __salt__[fun]()'],
    ['__states__', "async () => __states__['file.managed']('/x')"],
    ['__low__, __opts__', '() => __low__.name ?? __opts__.test'],
    ['getContext', '() => getContext().env'],
  ])('one that imports %s can wait for grains until it calls another function', (imports, body) => {
    expect(state(imports, body)).toEqual(['one']);
  });

  test.each([
    ['__grains__', '() => __grains__.os'],
    ['__salt__', "() => 'cmd.run' in __salt__"],
    ['__salt__', '() => Object.keys(__salt__)'],
    ['__utils__', "() => __utils__['x.y']()"],
    ['getContext', '() => getContext().grains.os'],
    ['getContext', '() => { const { grains } = getContext(); return grains; }'],
    ['getContext', "() => getContext().salt['grains.get']('os')"],
    ['getContext', "() => getContext().provider('pkg')"],
    ['untyped', '() => untyped'],
  ])('one that imports %s may read grains by itself: %s', (imports, body) => {
    expect(state(imports, body)).toEqual([]);
  });

  test('those of files that load others when they need them are judged with these', () => {
    const files = (far: string): Record<string, string> => ({
      'm/one.ts': "export const one = async () => (await import('../_shared/far.ts')).far;\n",
      '_shared/far.ts': far,
    });
    expect(grainless(files('export const far = 1;\n'), 'state')).toEqual(['one']);
    const reads = "import { __grains__ } from '../api.ts';\nexport const far = __grains__;\n";
    expect(grainless(files(reads), 'state')).toEqual([]);
  });

  test('files, hosts and INI files can wait; packages, services and users cannot', () => {
    const can = builtinMetadata().flatMap(({ kind, file, functions }) =>
      kind === 'state' && functions.every(fun => fun.needsNoGrains) ? [file] : [],
    );
    expect(can).toEqual(expect.arrayContaining(['host', 'ini_manage', 'test']));
    for (const name of ['pkg', 'service', 'user', 'grains']) expect(can).not.toContain(name);
    const managed = builtinMetadata()
      .find(({ kind, file }) => kind === 'state' && file === 'file')
      ?.functions.filter(fun => fun.needsNoGrains)
      .map(({ name }) => name);
    expect(managed).toEqual(expect.arrayContaining(['managed', 'directory', 'recurse', 'line']));
  });
});

test('only functions that are built in can do without', () => {
  const { functions } = workshop({ 'salt/_modules/m.ts': one }).describe('m');
  expect(functions[0]).not.toHaveProperty('needsNoGrains');
});
