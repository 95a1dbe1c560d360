import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type {
  CompletionItem,
  DocumentSymbol,
  Hover,
  Location,
  Range,
  WorkspaceEdit,
} from 'vscode-languageserver-protocol/node';
import { type LspEditor, lspProject, startEditor } from '../../helpers/lsp-client.ts';

const files = {
  'tsalt.yaml': 'cachedir: cache\nrenderer: jinja|yaml\n',
  'roster.yaml': 'web1: 192.0.2.1\n',
  'states/top.sls': "base:\n  '*':\n    - web\n",
  'states/web/init.sls': `{% from "web/map.jinja" import port, vhost with context %}
include:
  - .conf
  - common.users
nginx:
  pkg.installed: []
  service.running:
    - enable: True
    - watch:
      - file: site
      - pkg: nginx
{{ vhost('a') }}
motd:
  greet.hello:
    - text: {{ grains['os'] }} {{ salt['greet.text']('x') }}
`,
  'states/web/conf.sls': `site:
  file.managed:
    - name: /etc/nginx/site
    - source: salt://web/files/site.conf
    - require:
      - pkg: nginx
`,
  'states/web/map.jinja': `{% set port = 80 %}
{% macro vhost(name) %}
# {{ name }}
{% endmacro %}
`,
  'states/web/files/site.conf': 'listen 80;\n',
  'states/common/users.sls': 'deploy:\n  user.present: []\n',
  // Other hosts have this ID.
  'states/other.sls':
    'nginx:\n  test.nop: []\nthere:\n  test.nop:\n    - require: [{test: nginx}]\n',
  'states/_modules/greet.ts':
    '/**\n * Returns a greeting.\n *\n * @param name who\n */\nexport const text = (name: string): string => name;\n',
  'states/_states/greet.ts':
    '/**\n * Greets.\n *\n * @param text what is said\n */\n' +
    "export const hello = (name: string, { text = '' }: { text?: string } = {}) => ({ name, result: true, changes: {}, comment: text });\n",
  'pillar/top.sls': "base: {'*': [app]}\n",
  'pillar/app.sls': 'app:\n  port: 8080\n  secret: hunter2\n',
};

type Cursor = { textDocument: { uri: string }; position: { line: number; character: number } };

/** Opens a text in which `‸` is the cursor. */
const edit = async (path: string, marked: string): Promise<Cursor> => {
  await editor.close(path);
  const at = marked.indexOf('‸');
  const before = marked.slice(0, at).split('\n');
  await editor.open(path, marked.replace('‸', ''));
  await editor.diagnostics(path);
  return {
    textDocument: { uri: editor.uri(path) },
    position: { line: before.length - 1, character: before.at(-1)?.length ?? 0 },
  };
};

/** A saved file with the cursor after a text of it. */
const after = (path: keyof typeof files, text: string): string => {
  expect(files[path]).toContain(text);
  return files[path].replace(text, () => `${text}‸`);
};

let dir = '';
let editor: LspEditor;
beforeAll(async () => {
  dir = lspProject(files, afterAll);
  editor = await startEditor(dir, { atEnd: afterAll });
  // Bundles the user's modules for the first time.
  await editor.open('states/web/init.sls', files['states/web/init.sls']);
  await editor.diagnostics('states/web/init.sls');
  await editor.close('states/web/init.sls');
}, 120_000);
afterEach(async () => {
  for (const path of Object.keys(files)) await editor.close(path);
});

const complete = async (marked: string, path = 'states/web/init.sls') =>
  editor.connection.sendRequest<CompletionItem[]>(
    'textDocument/completion',
    await edit(path, marked),
  );

test.each([
  { what: 'state functions', at: 'a:\n  pkg.in‸', label: 'pkg.installed' },
  { what: "the user's state functions", at: 'a:\n  gre‸', label: 'greet.hello' },
  { what: 'arguments', at: 'a:\n  file.managed:\n    - sou‸', label: 'source' },
  { what: 'requisites as arguments', at: 'a:\n  file.managed:\n    - requ‸', label: 'require' },
  { what: 'functions of the long form', at: 'a:\n  pkg:\n    - lat‸', label: 'latest' },
  {
    what: 'values of a flag',
    at: 'a:\n  file.managed:\n    - makedirs: T‸',
    label: 'True',
  },
  {
    what: 'IDs of requisites',
    at: 'include: [.conf]\na:\n  test.nop:\n    - require:\n      - file: s‸',
    label: 'site',
  },
  {
    what: 'requisites with their modules',
    at: 'include: [.conf]\na:\n  test.nop:\n    - require:\n      - fi‸',
    label: 'file: site',
  },
  {
    what: 'salt:// paths',
    at: 'a:\n  file.managed:\n    - source: salt://web/f‸',
    label: 'web/files/site.conf',
  },
  { what: 'SLS of includes', at: 'include:\n  - common.‸', label: 'common.users' },
  { what: 'relative SLS', at: 'include:\n  - .c‸', label: '.conf' },
  { what: 'grains', at: "a: {{ grains['osf‸'] }}", label: 'osfinger' },
  { what: 'grains by attribute', at: 'a: {{ grains.os_‸ }}', label: 'os_family' },
  { what: 'pillar keys', at: "a: {{ pillar['app']['po‸'] }}", label: 'port' },
  { what: 'pillar paths', at: "a: {{ salt['pillar.get']('app:‸') }}", label: 'app:port' },
  { what: 'functions of templates', at: "a: {{ salt['cmd.ru‸'] }}", label: 'cmd.run' },
  { what: 'files of imports', at: "{% from 'web/m‸' %}", label: 'web/map.jinja' },
  { what: 'variables of the template', at: '{% set colour = 1 %}\na: {{ col‸ }}', label: 'colour' },
])(
  'lsp: completes $what',
  async ({ at, label }) => {
    const items = await complete(at);
    expect(items[0]?.label).toBe(label);
    expect(JSON.stringify(items)).not.toContain('hunter2');
  },
  60_000,
);

test('lsp: completes SLS in top files', async () => {
  const items = await complete("base:\n  '*':\n    - we‸", 'states/top.sls');
  expect(items.map(({ label }) => label)).toEqual(['web', 'web.conf']);
}, 20_000);

test('lsp: resolves the documentation of a completion', async () => {
  const items = await complete('a:\n  file.managed:\n    - makedir‸');
  const resolved = await editor.connection.sendRequest<CompletionItem>(
    'completionItem/resolve',
    items[0],
  );
  expect(resolved.documentation).toMatchObject({ value: expect.stringContaining('makedirs') });
}, 20_000);

test('lsp: explains functions, arguments, grains and IDs', async () => {
  const hover = async (text: string): Promise<string> => {
    const cursor = await edit('states/web/init.sls', after('states/web/init.sls', text));
    const found = await editor.connection.sendRequest<Hover>('textDocument/hover', cursor);
    return (found.contents as { value: string }).value;
  };
  expect(await hover('service.run')).toContain('**service.running**');
  expect(await hover('- ena')).toContain('`enable');
  expect(await hover('greet.hel')).toContain('Greets.');
  expect(await hover("salt['greet.te")).toContain('Returns a greeting.');
  expect(await hover("grains['o")).toContain('Debian');
  expect(await hover('file: si')).toContain('`file.managed` in SLS `web.conf`');
}, 20_000);

test.each([
  { at: '  - .co', target: 'states/web/conf.sls', line: 0 },
  { at: 'file: sit', target: 'states/web/conf.sls', line: 0 },
  { at: 'pkg: ngi', target: 'states/web/init.sls', line: 4 },
  { at: '"web/map', target: 'states/web/map.jinja', line: 0 },
  { at: '{{ vho', target: 'states/web/map.jinja', line: 1 },
  { at: "salt['greet.te", target: 'states/_modules/greet.ts', line: 5 },
  { at: 'greet.hel', target: 'states/_states/greet.ts', line: 5 },
] as const)(
  'lsp: goes from $at to $target',
  async ({ at, target, line }) => {
    const cursor = await edit('states/web/init.sls', after('states/web/init.sls', at));
    const found = await editor.connection.sendRequest<Location[]>(
      'textDocument/definition',
      cursor,
    );
    expect(found.map(({ uri, range }) => [uri, range.start.line])).toEqual([
      [editor.uri(target), line],
    ]);
  },
  60_000,
);

test('lsp: goes from salt:// and top files to files', async () => {
  for (const [path, text, target] of [
    ['states/web/conf.sls', 'salt://web/fil', 'states/web/files/site.conf'],
    ['states/top.sls', '    - we', 'states/web/init.sls'],
  ] as const) {
    const cursor = await edit(path, after(path, text));
    const found = await editor.connection.sendRequest<Location[]>(
      'textDocument/definition',
      cursor,
    );
    expect(found.map(({ uri }) => uri)).toEqual([editor.uri(target)]);
  }
}, 20_000);

/** The files of a project after a rename. */
const applied = (dir: string, edit: WorkspaceEdit, editor: LspEditor): Record<string, string> =>
  Object.fromEntries(
    Object.entries(edit.changes ?? {}).map(([uri, edits]) => {
      const path = Object.keys(files).find(one => editor.uri(one) === uri) ?? uri;
      const lines = readFileSync(`${dir}/${path}`, 'utf8').split('\n');
      const last = edits.toSorted((a, b) => compare(b.range, a.range));
      for (const { range, newText } of last) {
        const text = lines[range.start.line] ?? '';
        lines[range.start.line] =
          text.slice(0, range.start.character) + newText + text.slice(range.end.character);
      }
      return [path, lines.join('\n')];
    }),
  );

const compare = (a: Range, b: Range): number =>
  a.start.line - b.start.line || a.start.character - b.start.character;

test('lsp: renames an ID in all SLS that mean it, and keeps what its states do', async () => {
  const cursor = await edit('states/web/conf.sls', after('states/web/conf.sls', 'pkg: ng'));
  const references = await editor.connection.sendRequest<Location[]>('textDocument/references', {
    ...cursor,
    context: { includeDeclaration: true },
  });
  expect(references).toHaveLength(3);
  const range = await editor.connection.sendRequest<Range>('textDocument/prepareRename', cursor);
  expect(range).toMatchObject({ start: { line: 5, character: 13 }, end: { character: 18 } });
  const own = await edit('states/web/init.sls', after('states/web/init.sls', '\nngin'));
  const edits = await editor.connection.sendRequest<WorkspaceEdit>('textDocument/rename', {
    ...own,
    newName: 'web server',
  });
  const changed = applied(dir, edits, editor);
  expect(Object.keys(changed)).toContain('states/web/init.sls');
  expect(changed['states/web/init.sls']).toContain('web server:\n  pkg.installed:');
  expect(changed['states/web/init.sls']).toContain('      - pkg: web server\n');
  expect(changed['states/web/init.sls']).toContain(
    '  service.running:\n    - name: nginx\n    - enable: True\n',
  );
  expect(changed['states/web/conf.sls']).toContain('      - pkg: web server\n');
  expect(Object.keys(changed)).toHaveLength(2);
}, 20_000);

test.each([
  { newName: "it's", reason: 'cannot be an ID' },
  { newName: 'include', reason: 'keyword' },
  { newName: 'motd', reason: 'already' },
])(
  'lsp: refuses to rename an ID to $newName',
  async ({ newName, reason }) => {
    const cursor = await edit('states/web/init.sls', after('states/web/init.sls', '\nngin'));
    const renamed = editor.connection.sendRequest('textDocument/rename', { ...cursor, newName });
    await expect(renamed).rejects.toThrow(reason);
  },
  60_000,
);

test('lsp: lists IDs with their states, macros and variables', async () => {
  const { textDocument } = await edit('states/web/init.sls', `‸${files['states/web/init.sls']}`);
  const symbols = await editor.connection.sendRequest<DocumentSymbol[]>(
    'textDocument/documentSymbol',
    { textDocument },
  );
  expect(symbols.map(({ name, children = [] }) => [name, children.map(one => one.name)])).toEqual([
    ['nginx', ['pkg.installed', 'service.running']],
    ['motd', ['greet.hello']],
  ]);
  expect(symbols[0]?.range).toMatchObject({ start: { line: 4 }, end: { line: 10 } });
}, 20_000);

test('lsp: colours templates in YAML', async () => {
  const { textDocument } = await edit(
    'states/web/init.sls',
    "{# c #}\n{% if grains.os == 'x' %}\na: {{ 1 | int }}\n{% raw %}{{ no }}{% endraw %}‸",
  );
  const { data } = await editor.connection.sendRequest<{ data: number[] }>(
    'textDocument/semanticTokens/full',
    { textDocument },
  );
  const { legend } = editor.server.capabilities.semanticTokensProvider as {
    legend: { tokenTypes: string[] };
  };
  let line = 0;
  const found: string[] = [];
  for (let at = 0; at < data.length; at += 5) {
    line += data[at] ?? 0;
    found.push(`${line}:${legend.tokenTypes[data[at + 3] ?? 0]}:${data[at + 2]}`);
  }
  expect(found).toEqual([
    '0:comment:7',
    ...[
      'macro:2',
      'keyword:2',
      'variable:6',
      'property:2',
      'operator:2',
      'string:3',
      'macro:2',
    ].map(token => `1:${token}`),
    ...['macro:2', 'number:1', 'operator:1', 'function:3', 'macro:2'].map(token => `2:${token}`),
    ...['macro:2', 'keyword:3', 'macro:2', 'macro:2', 'keyword:6', 'macro:2'].map(
      token => `3:${token}`,
    ),
  ]);
}, 20_000);
