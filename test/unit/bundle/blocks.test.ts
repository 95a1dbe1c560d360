import { mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { type Blocks, intoBlocks } from '../../../src/bundle/blocks.ts';
import { withLateNamespaces } from '../../../src/bundle/late-namespaces.ts';
import { lineStarts, type Moved, placeBefore, placeIn } from '../../../src/bundle/moved.ts';
import { runEsbuild } from '../../../src/bundle/run-esbuild.ts';
import { headOf, withBlocks } from '../../../src/protocol/artifact-head.ts';

/** `web` and `db` are blocks, which use each other and what both share. */
const files = {
  'main.ts': `import { shared } from './shared.ts';
    export const value = (name: string) => name === 'web' ? require('./web.ts').web() : shared();
    export const both = () => [require('./web.ts').web(), require('./db.ts').db()];`,
  'shared.ts': 'let calls = 0; export const shared = () => ++calls;',
  'web.ts': `import { shared } from './shared.ts'; import { db } from './db.ts'; import { only } from './web-part.ts';
    export const web = () => ['web', shared(), db(), only];
    export const fail = () => { throw new Error('in web'); };`,
  'web-part.ts': "export const only = 'a name: web, db';",
  'db.ts': `import { shared } from './shared.ts'; import { fail } from './web.ts';
    export const db = () => ['db', shared(), typeof fail];`,
};

type Cut = Blocks & { readonly text: string; readonly map: string };

/** Bundles the files as the base is bundled, and cuts the blocks out. */
const cut = async (entry: string, more: Readonly<Record<string, string>> = {}): Promise<Cut> => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'tsalt-blocks-')));
  for (const [name, text] of Object.entries({ ...files, ...more }))
    writeFileSync(join(dir, name), text);
  const own = ['main.ts', 'web.ts', 'web-part.ts', 'db.ts'].map(name => join(dir, name));
  const made = await runEsbuild(dir, entry, { own: new Set(own), shortNames: true });
  if (!made.ok) throw new Error(made.reason);
  const { head, text } = withLateNamespaces(made.text);
  const blocks = await intoBlocks(text, made.map, source => /(web|db)[^/]*$/.exec(source)?.[1]);
  if (!blocks) throw new Error('there are no blocks');
  return { ...blocks, head: head + blocks.head, text: head + text, map: made.map };
};

/** Runs a head. Returns what it passes to `result`, and which blocks it opened. */
const run = ({ head, blocks }: Cut): { value: unknown; opened: string[] } => {
  const opened: string[] = [];
  let value: unknown;
  const block = (at: number, size: number, line: number): unknown => {
    const text = blocks.slice(at, at + size);
    expect(blocks.slice(0, at).split('\n').length - 1).toBe(line);
    opened.push(text.includes('"in web"') ? 'web' : 'db');
    return runInNewContext(text, {});
  };
  const result = (given: unknown): void => {
    value = JSON.parse(JSON.stringify(given));
  };
  runInNewContext(head, { result, TS: { block }, require: () => ({}), process: {} });
  return { value, opened };
};

test('a block is opened when one of its modules is used, once, by the head or another block', async () => {
  const none = await cut('result(require("./main.ts").value("none"));');
  expect(run(none)).toEqual({ value: 1, opened: [] });

  const both = await cut(
    'const { value } = require("./main.ts"); result([value("web"), value("web")]);',
  );
  expect(run(both)).toEqual({
    value: [1, 3].map(calls => ['web', calls, ['db', calls + 1, 'function'], 'a name: web, db']),
    opened: ['web', 'db'],
  });
});

test('the whole runs as it did before', async () => {
  const made = await cut('result([require("./main.ts").both(), require("./main.ts").value("")]);');
  let before: unknown;
  const result = (given: unknown): void => {
    before = JSON.parse(JSON.stringify(given));
  };
  runInNewContext(made.text, { result });

  expect(run(made)).toEqual({ value: before, opened: ['web', 'db'] });
  expect(made.head).not.toContain('a name');
  expect(made.blocks).toContain('a name');
});

test('a position in either part leads to its source', async () => {
  const made = await cut('result(require("./main.ts").both());', {
    'shared.ts': 'export const shared = () => { if (1 > 2) throw 0;\n return "in head"; };',
  });
  const map = new SourceMap(JSON.parse(made.map));
  const sourceOf = (text: string, word: string, moved: readonly Moved[], lines: number): string => {
    const [line, column] = placeIn(lineStarts(text), text.indexOf(word));
    const found = map.findEntry(...placeBefore(moved, line - lines, column));
    return 'originalSource' in found
      ? `${found.originalSource}:${found.originalLine + 1}`
      : 'nowhere';
  };
  const late = made.head.indexOf('var tsaltBlock');
  const lines = made.head.slice(0, late).split('\n').length - 1;
  expect(sourceOf(made.head, '"in head"', made.moved.head, lines)).toMatch(/shared\.ts:2$/);
  expect(sourceOf(made.blocks, '"in web"', made.moved.blocks, 0)).toMatch(/web\.ts:3$/);
});

test('a text without CommonJS modules, or beyond ASCII, has no blocks', async () => {
  const { text, map } = await cut('result(require("./main.ts").both());');
  const web = (): string => 'web';
  expect(await intoBlocks('var a=1;', map, web)).toBe(undefined);
  expect(await intoBlocks(`${text}"ö"`, map, web)).toBe(undefined);
  expect(await intoBlocks(text, map, () => undefined)).toBe(undefined);
});

test('a module that uses a variable of the head stays there, with all others', async () => {
  const wrap =
    'var b=(e,t)=>()=>{try{return t||e((t={exports:{}}).exports,t),t.exports}finally{}};';
  const map = JSON.stringify({ version: 3, sources: ['web.ts'], names: [], mappings: 'AAAA' });
  const made = (used: string): ReturnType<typeof intoBlocks> =>
    intoBlocks(`${wrap}var c=1,v;v=2;var X=b((e,t)=>{t.exports=${used}});X();`, map, () => 'web');

  expect((await made('c'))?.blocks).toBe(
    '(function(b,c){var X=b((e,t)=>{t.exports=c});return{X}})\n',
  );
  expect(await made('v')).toBe(undefined);
});

test('the first line of an artifact says where its head ends', () => {
  const whole = withBlocks('one\nü\n', '(function(){})\n');
  const head = headOf(whole);
  expect(Buffer.from(whole).subarray(head?.bytes).toString()).toBe('(function(){})\n');
  expect(whole.split('\n')[head?.lines ?? 0]).toBe('(function(){})');
  expect(withBlocks('one\n', '')).toBe('one\n');
  expect(headOf('one\n')).toBe(undefined);
});
