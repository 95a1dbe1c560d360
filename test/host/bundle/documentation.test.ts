import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { referencePages } from '../../../scripts/reference.ts';
import { builtinMetadata } from '../../../src/bundle/metadata.ts';
import { moduleName } from '../../../src/data/signatures/module-docs.ts';
import { toPlain } from '../../../src/data/values/value.ts';
import { isPlainDict, type PlainDict } from '../../../src/protocol/plain.ts';
import { internalKeywords } from '../../../src/protocol/state-keywords.ts';
import { wrapperModules } from '../../../src/wrapper/table.ts';
import { loadYaml } from '../../../src/yaml/load.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
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

test('the example of a state has only arguments of that state', () => {
  const states = modules.filter(({ kind }) => kind === 'state');
  const functions = new Map(
    states.flatMap(module =>
      module.functions.map((fun): [string, typeof fun] => [
        `${moduleName(module)}.${fun.name}`,
        fun,
      ]),
    ),
  );
  const used = states
    .flatMap(({ functions }) => functions)
    .flatMap(({ examples = [] }) => examples)
    .flatMap(text => Object.values(toPlain(loadYaml(text)) as Record<string, PlainDict>))
    .flatMap(body => (isPlainDict(body) ? Object.entries(body) : []))
    .flatMap(([name, args]) => {
      const signature = functions.get(name)?.signature;
      if (!signature || signature.anyKeyword || !Array.isArray(args)) return [];
      const known = [...signature.positional, ...(signature.keywords ?? [])].map(one => one.name);
      return args
        .flatMap(item => (isPlainDict(item) ? Object.keys(item) : []))
        .map(key => [`${name} ${key}`, known.includes(key) || internalKeywords.has(key)] as const);
    });
  expect(used.length).toBeGreaterThan(200);
  expect(used.filter(([, isKnown]) => !isKnown).map(([use]) => use)).toEqual([]);
});

test('npm run docs writes the reference manual, whose links lead to its own pages', {
  tags: 'slow',
}, () => {
  const folder = mkdtempSync(join(tmpdir(), 'tsalt-test-reference-'));
  try {
    writeFileSync(join(folder, 'exec-gone.md'), 'of a module that was removed');
    writeFileSync(join(folder, 'notes.md'), 'somebody wrote them');
    execFileSync('npm', ['run', '--silent', 'docs', '--', folder], { cwd: root });
    const pages = referencePages(modules);
    expect(readdirSync(folder).sort()).toEqual([...pages.keys(), 'notes.md'].sort());
    const broken = [...pages.values()].flatMap(text =>
      [...text.matchAll(/\]\(([^)#:]+\.md)/g)].flatMap(([, to = '']) => (pages.has(to) ? [] : to)),
    );
    expect(broken).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('the reference manual has a page for every module, with all its functions', () => {
  const pages = referencePages(modules);
  for (const module of modules) {
    const text = pages.get(`${module.kind}-${module.file}.md`) ?? '';
    for (const { name } of module.functions)
      expect(text).toContain(`## ${moduleName(module)}.${name}\n`);
  }
});
