import { readFileSync } from 'node:fs';
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

test('the reference manual has a page for every module, with all its functions', () => {
  const pages = referencePages(modules);
  for (const module of modules) {
    const text = pages.get(`${module.kind}-${module.file}.md`) ?? '';
    for (const { name } of module.functions)
      expect(text).toContain(`## ${moduleName(module)}.${name}\n`);
  }
  const index = fileURLToPath(new URL('../../docs/ref/README.md', import.meta.url));
  expect(readFileSync(index, 'utf8')).toContain('# Reference');
});
