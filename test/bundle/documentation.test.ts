import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { referencePages } from '../../scripts/reference.ts';
import { builtinMetadata } from '../../src/bundle/metadata.ts';
import { moduleName } from '../../src/data/module-docs.ts';
import { wrapperModules } from '../../src/wrapper/table.ts';

const modules = [...builtinMetadata(), ...wrapperModules()];

test('every built-in module can be read', () => {
  expect(modules.length).toBeGreaterThan(5);
  expect(modules.flatMap(({ broken }) => broken ?? [])).toEqual([]);
});

test('every public function of a built-in module is documented', () => {
  const lacking = modules.flatMap(module =>
    module.functions
      .filter(({ doc }) => !doc)
      .map(({ name, line }) => `${module.path}:${line} ${moduleName(module)}.${name}`),
  );
  expect(lacking).toEqual([]);
});

test('every built-in module says what it is for', () => {
  expect(modules.filter(({ doc }) => !doc).map(({ path }) => path)).toEqual([]);
});

test('the reference manual is that of these sources: `npm run docs` writes it', () => {
  const folder = fileURLToPath(new URL('../../docs/ref/', import.meta.url));
  const pages = referencePages(modules);
  expect(readdirSync(folder).sort()).toEqual([...pages.keys()].sort());
  const stale = [...pages].filter(([name, text]) => readFileSync(folder + name, 'utf8') !== text);
  expect(stale.map(([name]) => name)).toEqual([]);
});

test('the reference manual has a page for every module, with all its functions', () => {
  const pages = referencePages(modules);
  for (const module of modules) {
    const text = pages.get(`${module.kind}-${module.file}.md`) ?? '';
    for (const { name } of module.functions)
      expect(text).toContain(`## ${moduleName(module)}.${name}\n`);
  }
});
