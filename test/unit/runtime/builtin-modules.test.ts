import { expect, test } from 'vitest';
import { builtinModules } from '../../../src/runtime/builtin-modules.ts';

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
];

test('modules of a manifest have what it says of them, and find their code when it is used', () => {
  const asked: number[] = [];
  const modules = builtinModules(JSON.stringify(facts), {
    codeOf: at => {
      asked.push(at);
      return {
        signatures: () => `{"${at}":{}}`,
        load: lazily => lazily([['a', () => ({ a: at })]]),
      };
    },
    lazily: files => Object.assign({}, ...files.map(([, load]) => load())),
  });

  expect(modules.map(module => ({ ...module }))).toEqual(
    facts.map(fact => ({ ...fact, builtin: true })),
  );
  expect(asked).toEqual([]);
  expect(modules[1]?.load?.()).toEqual({ a: 1 });
  expect(modules[2]?.signatures?.()).toBe('{"2":{}}');
  expect(asked).toEqual([1, 2]);
});
