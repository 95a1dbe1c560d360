import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CompletionItem, Hover, Location } from 'vscode-languageserver-protocol/node';
import { type LspEditor, lspProject, startEditor } from '../../helpers/lsp-client.ts';

const files = {
  'roster.yaml': 'web1: 192.0.2.1\n',
  'states/top.sls': "base: {'*': [web]}\n",
  'states/web.sls': 'nginx: pkg.installed\n',
};

let editor: LspEditor;
beforeAll(async () => {
  editor = await startEditor(lspProject(files, afterAll), { atEnd: afterAll });
}, 60_000);

/** Opens a text in which `‸` is the cursor. */
const cursorIn = async (path: string, marked: string) => {
  await editor.close(path);
  const before = marked.slice(0, marked.indexOf('‸')).split('\n');
  await editor.open(path, marked.replace('‸', ''));
  return {
    textDocument: { uri: editor.uri(path) },
    position: { line: before.length - 1, character: before.at(-1)?.length ?? 0 },
  };
};

test.each([
  { path: 'roster.yaml', at: 'web1:\n  po‸', label: 'port' },
  { path: 'roster.yaml', at: 'web1:\n  sudo: t‸', label: 'true' },
  { path: 'roster.yaml', at: 'web1:\n  passwd:\n    en‸', label: 'env' },
  {
    path: 'roster.yaml',
    at: '#!jinja|yaml\n{% for n in [1] %}\nweb{{ n }}:\n  po‸\n{% endfor %}',
    label: 'port',
  },
  {
    path: 'roster.yaml',
    at: "{% if 1 %}\nweb1:\n  host: {{ 'a' }}\n  sudo: t‸\n{% endif %}",
    label: 'true',
  },
  { path: 'tsalt.yaml', at: 'ssh_max_p‸', label: 'ssh_max_procs' },
  { path: 'tsalt.yaml', at: 'roster_defaults:\n  us‸', label: 'user' },
  { path: 'tsalt.yaml', at: 'failhard: f‸', label: 'false' },
  { path: 'Saltfile', at: 'salt-ssh:\n  max_p‸', label: 'max_procs' },
  { path: 'states/top.sls', at: "base:\n  'os:Debian':\n    - match: gra‸", label: 'grain' },
])(
  'lsp: completes $label in $path',
  async ({ path, at, label }) => {
    const cursor = await cursorIn(path, at);
    const items = await editor.connection.sendRequest<CompletionItem[]>(
      'textDocument/completion',
      cursor,
    );
    expect(items.map(one => one.label)[0]).toBe(label);
    await editor.close(path);
  },
  30_000,
);

test('lsp: explains keys of the roster', async () => {
  const cursor = await cursorIn('roster.yaml', 'web1:\n  us‸er: deploy\n');
  const hover = await editor.connection.sendRequest<Hover>('textDocument/hover', cursor);
  expect((hover.contents as { value: string }).value).toMatch(/^`user`\n\n\S/);
  await editor.close('roster.yaml');
}, 30_000);

test.each(['web1:\n  {% set all = [\n  po‸\n  ] %}\n  port: 22', 'web1:\n  {{ po‸ }}: 22', '{%‸'])(
  'lsp: completes no keys inside of the template tag at %j',
  async at => {
    const cursor = await cursorIn('roster.yaml', at);
    const items = await editor.connection.sendRequest('textDocument/completion', cursor);
    expect(items).toEqual([]);
    await editor.close('roster.yaml');
  },
);

test('lsp: checks what the template of a roster makes', async () => {
  const path = 'roster.yaml';
  const loop = (key: string): string =>
    `#!jinja|yaml\n{% set port = 22 %}\n{% for n in [1, 2, 3] %}\nweb{{ n }}:\n  host: 192.0.2.{{ n }}\n  ${key}: {{ port }}\n{% endfor %}\n`;
  await editor.open(path, loop('port'));
  expect(await editor.diagnostics(path)).toEqual([]);
  await editor.type(path, loop('prot'));
  const wrong = await editor.diagnostics(path);
  expect(wrong.map(({ range, message }) => [range.start.line, message])).toEqual(
    [1, 2, 3].map(n => [5, expect.stringContaining(`'web${n}' has an unknown key 'prot'`)]),
  );
  await editor.type(path, loop('port').replace('{% endfor %}', ''));
  expect(await editor.diagnostics(path)).toMatchObject([{ code: 'roster', severity: 1 }]);
  // A program is not run to render it.
  await editor.type(path, '#!ts\nexport const run = () => ({ web1: { prot: 22 } });\n');
  expect(await editor.diagnostics(path)).toEqual([]);
  await editor.close(path);
}, 60_000);

test('lsp: serves each folder of a workspace as a project of its own', {
  tags: 'slow',
  timeout: 120_000,
}, async () => {
  const one = lspProject({
    ...files,
    'states/web.sls': 'include: [one]\n',
    'states/one.sls': 'a: test.nop\n',
  });
  const two = lspProject({ ...files, 'states/web.sls': 'include: [one]\n' });
  const client = await startEditor(one, { folders: [one, two] });
  const uriIn = (dir: string): string => pathToFileURL(join(dir, 'states/web.sls')).href;
  const text = 'include: [one]\n';
  await client.open(uriIn(one), text);
  expect(await client.diagnostics(uriIn(one))).toEqual([]);
  await client.open(uriIn(two), text);
  expect(await client.diagnostics(uriIn(two))).toMatchObject([{ code: 'missing-sls' }]);
  const find = (dir: string): Promise<Location[]> =>
    client.connection.sendRequest('textDocument/definition', {
      textDocument: { uri: uriIn(dir) },
      position: { line: 0, character: 11 },
    });
  expect(await find(one)).toMatchObject([{ uri: pathToFileURL(join(one, 'states/one.sls')).href }]);
  expect(await find(two)).toEqual([]);

  // A folder that is added later, and a project below a folder.
  const three = lspProject({
    'project/tsalt.yaml': 'renderer: jinja|yaml\n',
    'project/states/web.sls': '',
  });
  await client.connection.sendNotification('workspace/didChangeWorkspaceFolders', {
    event: { added: [{ uri: pathToFileURL(three).href, name: 'three' }], removed: [] },
  });
  const below = pathToFileURL(join(three, 'project/states/web.sls')).href;
  await client.open(below, 'a:\n  test.nope: []\n');
  expect(await client.diagnostics(below)).toMatchObject([{ code: 'unknown-function' }]);
});
