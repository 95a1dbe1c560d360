import { expect, test } from 'vitest';
import { moduleIndexText } from '../../../src/protocol/manifest/module-index.ts';
import { openBuiltins } from '../../../src/runtime/builtin-modules.ts';

const facts = [
  { kind: 'exec', name: 'aptpkg', virtual: ['pkg'], path: 'pkg/aptpkg.ts', functions: 'install' },
  { kind: 'state', name: 'pkg', anyName: true, path: 'pkg/pkg.ts', functions: 'installed' },
  {
    kind: 'state',
    name: 'up',
    auto: true,
    contracts: ['auto_state'],
    path: 'up.ts',
    functions: '',
  },
  { kind: 'state', name: 'repo', virtual: ['pkg'], path: 'pkg/repo.ts', functions: 'managed' },
] as const;

const open = (asked: number[] = []) => {
  const lines = facts.map(fact => JSON.stringify(fact)).join('\n');
  return openBuiltins(lines, moduleIndexText(facts), {
    codeOf: at => {
      asked.push(at);
      return {
        signatures: () => `{"${at}":{}}`,
        load: lazily => lazily([['a', () => ({ a: at })]]),
      };
    },
    lazily: files => Object.assign({}, ...files.map(([, load]) => load())),
  });
};

test('built-in modules are what their facts say, and find their code when it is used', () => {
  const asked: number[] = [];
  const modules = open(asked).all();

  expect(modules.map(module => ({ ...module }))).toEqual(
    facts.map(fact => ({ ...fact, builtin: true })),
  );
  expect(asked).toEqual([]);
  expect(modules[1]?.load?.()).toEqual({ a: 1 });
  expect(modules[2]?.signatures?.()).toBe('{"2":{}}');
  expect(asked).toEqual([1, 2]);
});

test('a built-in module is found by kind and each of its names, as one object', () => {
  const modules = open();
  const found = (kind: string, name: string) => modules.named(kind, name).map(({ path }) => path);

  expect(found('exec', 'pkg')).toEqual(['pkg/aptpkg.ts']);
  expect(found('exec', 'aptpkg')).toEqual(['pkg/aptpkg.ts']);
  expect(found('state', 'pkg')).toEqual(['pkg/pkg.ts', 'pkg/repo.ts']);
  expect(found('state', '*')).toEqual(['pkg/pkg.ts']);
  expect(found('exec', '*')).toEqual([]);
  expect(modules.named('exec', 'pkg')[0]).toBe(modules.all()[0]);
});

test('a name is not found by a part of it, nor by what the index has between names', () => {
  const modules = open();
  for (const name of ['', 'pk', 'kg', 'pkg:0', 'aptpkg:0\nexec pkg'])
    expect(modules.named('exec', name)).toEqual([]);
  expect(modules.named('xec', 'pkg')).toEqual([]);
});

test('a module that a module of the user hides is not found', () => {
  const modules = open().only([0, 2, 3]);

  expect(modules.all().map(({ path }) => path)).toEqual(['pkg/aptpkg.ts', 'up.ts', 'pkg/repo.ts']);
  expect(modules.named('state', 'pkg').map(({ path }) => path)).toEqual(['pkg/repo.ts']);
  expect(modules.named('state', '*')).toEqual([]);
});
