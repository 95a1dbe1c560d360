import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type {
  CompletionItem,
  Location,
  SignatureHelp,
  WorkspaceEdit,
} from 'vscode-languageserver-protocol/node';
import { type LspEditor, lspProject, startEditor } from '../../helpers/lsp-client.ts';

const web =
  'include:\n  - new\n  - app.db\nfirst: test.nop\nsite:\n  test.nop:\n    - require:\n      - pkg: tool\n';
const files = {
  'roster.yaml': 'web1: 192.0.2.1\n',
  'states/top.sls': "base: {'*': [web]}\n",
  'states/web.sls': web,
  'pillar/top.sls': "base: {'*': [common]}\n",
  'pillar/common.sls': 'port: 80\n',
};

/** Sends a request for the position of `‸` in a text, which is typed into an open document. */
const ask = async <T>(
  editor: LspEditor,
  method: string,
  path: string,
  marked: string,
  more: object = {},
): Promise<T> => {
  const before = marked.slice(0, marked.indexOf('‸')).split('\n');
  await editor.type(path, marked.replace('‸', ''));
  return editor.connection.sendRequest<T>(method, {
    textDocument: { uri: editor.uri(path) },
    position: { line: before.length - 1, character: before.at(-1)?.length ?? 0 },
    ...more,
  });
};

const codes = async (editor: LspEditor, path: string): Promise<unknown[]> =>
  (await editor.diagnostics(path)).map(({ code }) => code);

/** The next diagnostics that are sent without a change of the text. */
const recheck = async (editor: LspEditor, path: string, run: () => Promise<void>) => {
  const count = editor.count(path);
  await run();
  await expect.poll(() => editor.count(path), { timeout: 20_000 }).toBeGreaterThan(count);
  return codes(editor, path);
};

test('lsp: checks an SLS that is not saved yet, and finds it from other documents', {
  tags: 'slow',
  timeout: 120_000,
}, async () => {
  const dir = lspProject(files);
  const editor = await startEditor(dir);
  await editor.open('states/web.sls', web);
  expect(await codes(editor, 'states/web.sls')).toEqual(['missing-sls', 'missing-sls']);

  // The second one is in a folder that does not exist, either.
  await editor.open('states/app/db.sls', 'db: test.nop\n');
  expect(await codes(editor, 'states/app/db.sls')).toEqual([]);
  const after = await recheck(editor, 'states/web.sls', () =>
    editor.open('states/new.sls', 'tool:\n  pkg.instaled: []\n'),
  );
  expect(await codes(editor, 'states/new.sls')).toEqual(['unknown-function']);
  expect(after).not.toContain('missing-sls');
  await editor.type('states/new.sls', 'tool:\n  pkg.installed: []\n');
  expect(await codes(editor, 'states/new.sls')).toEqual([]);
  await editor.type('states/web.sls', `${web}# \n`);
  expect(await codes(editor, 'states/web.sls')).toEqual([]);
  // A requisite on a state of web.sls: both are compiled together.
  const needs = (id: string): string => `tool:\n  pkg.installed:\n    - require: [{test: ${id}}]\n`;
  await editor.type('states/new.sls', needs('first'));
  expect(await codes(editor, 'states/new.sls')).toEqual([]);
  await editor.type('states/new.sls', needs('last'));
  expect(await codes(editor, 'states/new.sls')).toEqual(['lost-requisite']);
  await editor.type('states/new.sls', 'tool:\n  pkg.installed: []\n');

  const go = (marked: string) =>
    ask<Location[]>(editor, 'textDocument/definition', 'states/web.sls', marked);
  const target = { uri: editor.uri('states/new.sls') };
  expect(await go(web.replace('ne', 'ne‸'))).toMatchObject([target]);
  expect(await go(web.replace('pkg: to', 'pkg: to‸'))).toMatchObject([target]);
  expect(await go(web.replace('app.', 'app.‸'))).toMatchObject([
    { uri: editor.uri('states/app/db.sls') },
  ]);
  const complete = async (path: string, marked: string) =>
    (await ask<CompletionItem[]>(editor, 'textDocument/completion', path, marked))[0]?.label;
  expect(await complete('states/web.sls', 'include:\n  - ne‸')).toBe('new');
  expect(await complete('states/web.sls', web.replace('pkg: tool', 'pkg: t‸'))).toBe('tool');
  expect(await complete('states/new.sls', 'a:\n  file.managed:\n    - sou‸')).toBe('source');
  const help = await ask<SignatureHelp>(
    editor,
    'textDocument/signatureHelp',
    'states/new.sls',
    'a:\n  file.managed:\n    - source: ‸',
  );
  expect(help.signatures[0]?.label).toMatch(/^file\.managed\(/);
  await editor.type('states/web.sls', web);
  const edits = await ask<WorkspaceEdit>(
    editor,
    'textDocument/rename',
    'states/new.sls',
    't‸ool:\n  pkg.installed: []\n',
    { newName: 'kit' },
  );
  expect(Object.keys(edits.changes ?? {}).sort()).toEqual(
    [target.uri, editor.uri('states/web.sls')].sort(),
  );

  // Closed without being saved: it is gone.
  const gone = await recheck(editor, 'states/web.sls', () => editor.close('states/app/db.sls'));
  expect(gone).toEqual(['missing-sls']);
  expect(existsSync(join(dir, 'states/app'))).toBe(false);
});

test('lsp: compiles a new SLS together with an include that is typed after it', async () => {
  const editor = await startEditor(lspProject({ ...files, 'states/web.sls': 'first: test.nop\n' }));
  const text = 'tool:\n  pkg.installed:\n    - require: [{test: first}]\n';
  await editor.open('states/new.sls', text);
  expect(await codes(editor, 'states/new.sls')).toEqual(['lost-requisite']);
  await editor.open('states/web.sls', 'include: [new]\nfirst: test.nop\n');
  expect(await codes(editor, 'states/web.sls')).toEqual([]);
  await editor.type('states/new.sls', `${text}# \n`);
  expect(await codes(editor, 'states/new.sls')).toEqual([]);
}, 120_000);

test('lsp: a pillar file that is not saved yet counts for pillar and states', {
  tags: 'slow',
  timeout: 120_000,
}, async () => {
  const editor = await startEditor(lspProject(files));
  await editor.open('pillar/top.sls', "base: {'*': [common, extra]}\n");
  const text = '{{ pillar.extra.colour }}:\n  test.nop: []\n';
  await editor.open('states/web.sls', text);
  expect(await codes(editor, 'states/web.sls')).toEqual(['render']);
  await editor.open('pillar/extra.sls', 'extra:\n  colour: [red\n');
  expect(await codes(editor, 'pillar/extra.sls')).toEqual(['pillar']);
  await editor.type('pillar/extra.sls', 'extra:\n  colour: red\n');
  expect(await editor.diagnostics('pillar/extra.sls')).toEqual([]);

  await editor.type('states/web.sls', `${text}# \n`);
  expect(await editor.diagnostics('states/web.sls')).toEqual([]);
  const items = await ask<CompletionItem[]>(
    editor,
    'textDocument/completion',
    'states/web.sls',
    "a: {{ pillar['extra']['col‸'] }}",
  );
  expect(items[0]?.label).toBe('colour');
});

test('lsp: VS Code opens new files by another address until they are saved', async () => {
  const dir = lspProject({ ...files, 'states/web.sls': 'include: [new]\n' });
  const editor = await startEditor(dir);
  const saved = editor.uri('states/new.sls');
  const untitled = saved.replace('file://', 'untitled:');
  await editor.open('untitled:Untitled-1', 'a: [');
  await editor.open(untitled, 'tool:\n  pkg.instaled: []\n');
  expect(await codes(editor, untitled)).toEqual(['unknown-function']);
  await editor.type(untitled, 'tool:\n  pkg.installed: []\n');
  await editor.open('states/web.sls', 'include: [new]\n');
  expect(await codes(editor, 'states/web.sls')).toEqual([]);
  const find = () =>
    ask<Location[]>(editor, 'textDocument/definition', 'states/web.sls', 'include: [ne‸w]\n');
  expect(await find()).toMatchObject([{ uri: untitled }]);

  writeFileSync(join(dir, 'states/new.sls'), 'tool:\n  pkg.installed: []\n');
  await editor.open(saved, 'tool:\n  pkg.installed: []\n# typed at once\nother: test.nope\n');
  await editor.close(untitled);
  expect(await codes(editor, saved)).toEqual(['unknown-function']);
  expect(await find()).toMatchObject([{ uri: saved }]);
  expect(editor.count(editor.uri('untitled:Untitled-1'))).toBe(0);
}, 120_000);
