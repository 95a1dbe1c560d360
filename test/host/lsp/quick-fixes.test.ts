import { expect, test } from 'vitest';
import type { CodeAction, Diagnostic } from 'vscode-languageserver-protocol/node';
import { type LspEditor, lspProject, startEditor } from '../../helpers/lsp-client.ts';

const wrong =
  "nginx:\n  pkg.instaled: []\n/etc/x:\n  file.managed:\n    - contents: a\n    - mode: 644\n/srv/y:\n  file.directory:\n    - mode: 755\n    - makedirs: 'true'\n";

const files = {
  'roster.yaml': 'web1: 192.0.2.1\n',
  'states/top.sls': "base: {'*': [web]}\n",
  'states/web.sls': wrong,
};

const actionsAt = (
  editor: LspEditor,
  path: string,
  line: number,
  only?: string[],
): Promise<CodeAction[]> =>
  editor.connection.sendRequest('textDocument/codeAction', {
    textDocument: { uri: editor.uri(path) },
    range: { start: { line, character: 0 }, end: { line, character: 0 } },
    context: { diagnostics: [], ...(only ? { only } : {}) },
  });

/** The text after the changes of an action. */
const applied = (text: string, action: CodeAction | undefined): string => {
  const lines = text.split('\n');
  const edits = Object.values(action?.edit?.changes ?? {}).flat();
  for (const { range, newText } of edits.toReversed()) {
    const { start, end } = range;
    const line = lines[start.line] ?? '';
    lines[start.line] = line.slice(0, start.character) + newText + line.slice(end.character);
  }
  return lines.join('\n');
};

const titles = (actions: readonly CodeAction[]): string[] => actions.map(({ title }) => title);

test('lsp: offers the word that was meant, what lint corrects, and no rule for a line', async () => {
  const editor = await startEditor(lspProject(files));
  await editor.open('states/web.sls', wrong);
  await editor.diagnostics('states/web.sls');

  const [meant] = await actionsAt(editor, 'states/web.sls', 1);
  expect(meant).toMatchObject({ title: "Change to 'pkg.installed'", kind: 'quickfix' });
  expect(meant?.diagnostics?.[0]?.code).toBe('unknown-function');
  expect(applied(wrong, meant)).toContain('  pkg.installed: []\n');

  const mode = await actionsAt(editor, 'states/web.sls', 5);
  expect(titles(mode)).toEqual([
    "Correct unquoted-mode: - mode: '644'",
    'Switch unquoted-mode off for this line',
    'Correct all that lint can correct (3)',
  ]);
  expect(applied(wrong, mode[0])).toContain("    - mode: '644'\n");
  const off = applied(wrong, mode[1]);
  expect(off).toContain('    # tsalt-lint: disable=unquoted-mode\n    - mode: 644\n');
  await editor.type('states/web.sls', off);
  const rest = await editor.diagnostics('states/web.sls');
  expect(rest.map(({ code, range }) => [code, range.start.line])).toContainEqual([
    'unquoted-mode',
    9,
  ]);
  expect(rest.filter(({ code }) => code === 'unquoted-mode')).toHaveLength(1);
}, 60_000);

test('lsp: corrects all of a document by source.fixAll', async () => {
  const editor = await startEditor(lspProject(files));
  await editor.open('states/web.sls', wrong);
  await editor.diagnostics('states/web.sls');
  const actions = await actionsAt(editor, 'states/web.sls', 0, ['source.fixAll']);
  expect(titles(actions)).toEqual(['Correct all that lint can correct (3)']);
  const fixed = applied(wrong, actions[0]);
  await editor.type('states/web.sls', fixed);
  const rest = await editor.diagnostics('states/web.sls');
  expect(rest.map(({ code }) => code)).toEqual(['unknown-function']);
}, 60_000);

test.each([
  {
    path: 'roster.yaml',
    text: 'web1: {host: a, prot: 22}\n',
    fixed: 'web1: {host: a, port: 22}\n',
  },
  { path: 'tsalt.yaml', text: 'ssh_max_proc: 5\n', fixed: 'ssh_max_procs: 5\n' },
  { path: 'Saltfile', text: 'salt-ssh:\n  max_proc: 5\n', fixed: 'salt-ssh:\n  max_procs: 5\n' },
])(
  'lsp: mends a misspelt key of $path',
  async ({ path, text, fixed }) => {
    const editor = await startEditor(lspProject(files));
    await editor.open(path, text);
    const [found] = await editor.diagnostics(path);
    expect(found).toMatchObject({ severity: 1, source: 'tsalt-ssh' });
    const actions = await actionsAt(editor, path, found?.range.start.line ?? 0);
    expect(applied(text, actions[0])).toBe(fixed);
    await editor.type(path, fixed);
    expect(await editor.diagnostics(path)).toEqual([]);
  },
  60_000,
);

test('lsp: reports all errors of tsalt.yaml and of the roster', async () => {
  const editor = await startEditor(lspProject(files));
  await editor.open('tsalt.yaml', 'ssh_max_proc: 5\ntest: maybe\nfailhard: 3\n');
  const lines = (found: readonly Diagnostic[]): number[] => found.map(one => one.range.start.line);
  expect(lines(await editor.diagnostics('tsalt.yaml'))).toEqual([0, 1, 2]);
  await editor.open('roster.yaml', 'a: {prot: 1}\nb: {host: b}\nc:\n  port: x\n');
  expect(lines(await editor.diagnostics('roster.yaml'))).toEqual([0, 3]);
}, 60_000);
