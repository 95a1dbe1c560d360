import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { expect, test } from 'vitest';

/** Names that two files export with one meaning, and why. */
const shared: Readonly<Record<string, string>> = {
  // Salt's names: modules and SLS in TypeScript import them from different entries of the package.
  __salt__: 'tsalt-ssh/module and tsalt-ssh/sls',
  __grains__: 'tsalt-ssh/module and tsalt-ssh/sls',
  __pillar__: 'tsalt-ssh/module and tsalt-ssh/sls',
  __opts__: 'tsalt-ssh/module and tsalt-ssh/sls',
  untyped: 'tsalt-ssh/module and tsalt-ssh/sls',
  start: 'the entries of the two programs for hosts: esbuild calls them by this name',
  compile: 'the library, and the compiler that it calls',
};

/** Functions of Salt modules have Salt's names, and so have the files that `module new` writes. */
const isNamedBySalt = (file: string): boolean =>
  /^src\/modules\/[^/]+\/(?:exec|states|grains)\//.test(file) || file === 'src/bundle/skeleton.ts';

const declaration =
  /^export (?:declare )?(?:async )?(?:const|let|function\*?|class|type|interface|enum) ([\w$]+)/gm;

test('an exported name has one meaning', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .map(path => posix.join('src', path))
    .filter(path => path.endsWith('.ts') && !isNamedBySalt(path));
  const places = new Map<string, string[]>();
  for (const file of files)
    for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(declaration))
      places.set(name, [...(places.get(name) ?? []), file]);
  expect(places.size).toBeGreaterThan(1000);
  const doubles = [...places].filter(([name, where]) => where.length > 1 && !(name in shared));
  expect(doubles.map(([name, where]) => `${name}: ${where.join(', ')}`)).toEqual([]);
});
