import { mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { withLateNamespaces } from '../../../src/bundle/late-namespaces.ts';
import { runEsbuild } from '../../../src/bundle/run-esbuild.ts';

/** Bundles the files of a folder, of which `own.ts` has a scope of its own, as the base is bundled. */
const bundle = async (files: Readonly<Record<string, string>>): Promise<string> => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'tsalt-namespaces-')));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
  const made = await runEsbuild(dir, 'result(require("./own.ts").value());', {
    own: new Set([join(dir, 'own.ts')]),
    shortNames: true,
  });
  if (!made.ok) throw new Error(made.reason);
  return made.text;
};

const resultOf = (text: string): unknown => {
  let value: unknown;
  const result = (given: unknown): void => {
    value = JSON.parse(JSON.stringify(given));
  };
  runInNewContext(text, { result });
  return value;
};

const late = /=[\w$]+\(_=>\(\{/g;

const files = {
  'own.ts': `import { one, count, back } from './first-module.ts';
    import * as other from './other-module.ts';
    import only from './default-module.ts';
    export const own = 'own';
    export const value = () => [one, count(), count(), back(), Object.keys(other), other.two, only];`,
  // The two import each other, and the file with its own scope imports both.
  'first-module.ts': `import { two, addTo } from './other-module.ts'; import { own } from './own.ts';
    let calls = 0;
    export const one = 1; export const count = () => ++calls; export const back = () => [own, two, addTo(2)];`,
  'other-module.ts': `import { one } from './first-module.ts';
    export const two = 'two'; export const addTo = (n: number) => n + one; export { one as again };`,
  'default-module.ts': 'export default { is: "default" };',
};

test('late namespaces have the exports that esbuild gives them, also of modules that import each other', async () => {
  const text = await bundle(files);
  const made = withLateNamespaces(text);

  expect(made.text.match(late)?.length).toBe(3);
  expect(resultOf(made.head + made.text)).toEqual(resultOf(text));
  expect(resultOf(text)).toEqual([
    1,
    1,
    2,
    ['own', 'two', 3],
    ['addTo', 'again', 'two'],
    'two',
    { is: 'default' },
  ]);
});

test('code stays where the source map has it', async () => {
  const text = await bundle({ ...files, 'default-module.ts': 'export default () => { throw 1 };' });
  const made = withLateNamespaces(text);

  expect(made.text.length).toBe(text.length);
  expect(made.text.indexOf('throw 1')).toBe(text.indexOf('throw 1'));
  expect(made.head).toMatch(/\n$/);
});

test('a namespace that is more than required is made at the start', async () => {
  const text = await bundle({
    'own.ts': `import { keys } from './first-module.ts';
      export const value = () => keys();`,
    'first-module.ts': `import * as whole from './other-module.ts'; export const keys = () => names(whole);
      const names = (of: object) => Object.keys(of).map(key => key + (of as any)[key]);`,
    'other-module.ts': 'export const two = 2; export const three = 3;',
  });
  const made = withLateNamespaces(text);

  expect(made.text.match(late)?.length).toBe(1);
  expect(resultOf(made.head + made.text)).toEqual(['three3', 'two2']);
});

test('a text that esbuild has not written stays as it is', () => {
  expect(withLateNamespaces('var a={};b(a,{c:()=>d});')).toEqual({
    head: '',
    text: 'var a={};b(a,{c:()=>d});',
  });
});
