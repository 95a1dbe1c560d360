import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SignatureHelp } from 'vscode-languageserver-protocol/node';
import { type LspEditor, lspProject, startEditor } from '../../helpers/lsp-client.ts';

const moduleText = (name: string): string => `
export const __virtualname__ = 'drink';
/**
 * Makes ${name}.
 *
 * @param size how much of it
 */
export const make = (size: number, { ${name} = 'x' }: { ${name}?: string } = {}) => [size, ${name}];
`;

const files = {
  'roster.yaml': 'web1: 192.0.2.1\n',
  'states/top.sls': "base: {'*': [web]}\n",
  'states/web.sls': 'a: test.nop\n',
  'states/_modules/tea.ts': moduleText('leaf'),
  'states/_modules/coffee.ts': moduleText('bean'),
  'states/_modules/greet.ts':
    '/**\n * Greets all.\n *\n * @param first the oldest\n * @param others the younger ones\n */\n' +
    'export const all = (first: string, ...others: string[]) => [first, ...others];\n',
};

let dir = '';
let editor: LspEditor;
beforeAll(async () => {
  dir = lspProject(files, afterAll);
  editor = await startEditor(dir, { atEnd: afterAll });
  // Bundles the user's modules for the first time.
  await ask('a:\n  test.nop:\n    - ‸');
}, 120_000);

/** Asks for the signatures at `‸`. */
const ask = async (
  marked: string,
  { client = editor, path = 'states/web.sls', context = undefined as object | undefined } = {},
): Promise<SignatureHelp | null> => {
  const before = marked.slice(0, marked.indexOf('‸')).split('\n');
  await client.open(path, marked.replace('‸', ''));
  const found = await client.connection.sendRequest<SignatureHelp | null>(
    'textDocument/signatureHelp',
    {
      textDocument: { uri: client.uri(path) },
      position: { line: before.length - 1, character: before.at(-1)?.length ?? 0 },
      ...(context === undefined ? {} : { context }),
    },
  );
  await client.close(path);
  return found;
};

/** The name of the function, and the text of the active parameter. */
const shown = (help: SignatureHelp | null) => {
  const one = help?.signatures[help.activeSignature ?? 0];
  return [
    one?.label.split('(')[0],
    one?.parameters?.[help?.activeParameter ?? 0]?.label.toString().split('=')[0],
  ];
};

test.each([
  ['a:\n  file.managed:\n    - ‸', 'file.managed', undefined],
  ['a:\n  file.managed:\n    -‸', 'file.managed', undefined],
  ['a:\n  file.managed:\n    - name: /x\n    - source: salt://‸\n', 'file.managed', 'source'],
  ['a:\n  file.managed:\n    - name: /x\n    - mode:‸\n    - user: a\n', 'file.managed', 'mode'],
  ['a:\n  file.managed:\n    - contents: |\n        one\n        tw‸', 'file.managed', 'contents'],
  ['a:\n  file.managed:\n    - context:\n        port: 8‸', 'file.managed', 'context'],
  ['a:\n  file.managed: [{name: /x}, {user: ro‸}]', 'file.managed', 'user'],
  ['a:\n  file.managed:‸', 'file.managed', undefined],
  ['a: test.nop‸', 'test.nop', undefined],
  ['a:\n  pkg:\n    - installed\n    - version: ‸', 'pkg.installed', 'version'],
  ['a:\n  pkg.installed: []\n  service.running:\n    - enable: ‸', 'service.running', 'enable'],
  ['extend:\n  a:\n    file.managed:\n      - source: ‸', 'file.managed', 'source'],
  // Requisites and the like are arguments of all states.
  ['a:\n  file.managed:\n    - require:\n      - pkg: ‸', 'file.managed', 'require'],
  ['a:\n  file.managed:\n    - sorce: ‸', 'file.managed', undefined],
  ['a:\n  test.nop:\n    - colour: ‸', 'test.nop', '**kwargs'],
])('lsp: shows the arguments of the state at %j', async (marked, name, active) => {
  expect(shown(await ask(marked))).toEqual([name, active]);
});

test.each([
  ["a: {{ salt['cmd.run'](‸) }}", 'cmd.run', 'cmd'],
  ["a: {{ salt['cmd.run']('ls (a, b)', '/tmp'‸) }}", 'cmd.run', 'cwd'],
  ["a: {{ salt['cmd.run']('ls', runas='a‸') }}", 'cmd.run', 'runas'],
  ["a: {{ salt['cmd.run']('ls', ['a', 'b'‸]) }}", 'cmd.run', 'cwd'],
  ["a: {{ salt['cmd.run']('it\\'s, ‸", 'cmd.run', 'cmd'],
  ['a: {{ salt.cmd.run(x == 1, ‸) }}', 'cmd.run', 'cwd'],
  ["{% set x = salt['cmd.run'](\n  'ls',\n  cwd=‸\n) %}", 'cmd.run', 'cwd'],
  ["{% if salt['cmd.run'](salt['test.echo'](‸)) %}", 'test.echo', 'text'],
  ["{% if salt['cmd.run'](salt['test.echo']('x'), ‸) %}", 'cmd.run', 'cwd'],
  ["{% if salt['cmd.run'](str(‸)) %}", 'cmd.run', 'cmd'],
  ["a: {{ salt['greet.all']('x', ‸) }}", 'greet.all', '*others'],
  ["a: {{ salt['greet.all']('x', 'y', 'z‸') }}", 'greet.all', '*others'],
  // Liquid
  ["a: {{ 'cmd.run' | salt: 'ls', ‸ }}", 'cmd.run', 'cwd'],
  ["{% assign x = 'cmd.run' | salt: 'ls', runas: ‸ %}", 'cmd.run', 'runas'],
  ["{% salt x = cmd.run 'ls', cwd: '/‸' %}", 'cmd.run', 'cwd'],
  // The state around a template.
  ['a:\n  file.managed:\n    - user: {{ gr‸ }}', 'file.managed', 'user'],
])('lsp: shows the parameters of the call at %j', async (marked, name, active) => {
  expect(shown(await ask(marked))).toEqual([name, active]);
});

test.each([
  'a‸',
  'include:\n  - ‸',
  'a:\n  no.such:\n    - ‸',
  "a: {{ salt['cmd.run']('ls')‸ }}",
  "a: {{ salt['no.such'](‸) }}",
  "a: {{ 'cmd.run' | salt: 'ls' | default: ‸ }}",
  '# a:\n#  file.managed:\n#    - ‸',
])('lsp: shows no arguments at %j', async marked => {
  expect(await ask(marked)).toBeNull();
});

test('lsp: shows calls in a Jinja file, but not states', async () => {
  const path = 'states/map.jinja';
  expect(shown(await ask("{% set x = salt['cmd.run'](‸) %}", { path }))).toEqual([
    'cmd.run',
    'cmd',
  ]);
  expect(await ask('a:\n  file.managed:\n    - ‸', { path })).toBeNull();
});

test('lsp: describes the function and its parameters', async () => {
  const help = await ask("a: {{ salt['greet.all'](‸) }}");
  expect(help).toMatchObject({
    activeParameter: 0,
    signatures: [
      {
        label: 'greet.all(first, *others)',
        documentation: { kind: 'markdown', value: 'Greets all.' },
        parameters: [
          { label: 'first', documentation: { value: '`first: string`\n\nthe oldest' } },
          { label: '*others', documentation: { value: 'the younger ones' } },
        ],
      },
    ],
  });
});

test('lsp: shows the functions of all modules of one name, first the one with the argument', async () => {
  const first = await ask("a: {{ salt['drink.make'](‸) }}");
  expect(first?.signatures.map(({ label }) => label).sort()).toEqual([
    "drink.make(size, bean='x')",
    "drink.make(size, leaf='x')",
  ]);
  for (const name of ['bean', 'leaf']) {
    const help = await ask(`a: {{ salt['drink.make'](1, ${name}=‸) }}`);
    expect(help?.signatures[help.activeSignature ?? 0]?.label).toContain(name);
  }
  // The user looks at the second one.
  const context = {
    triggerKind: 3,
    isRetrigger: true,
    activeSignatureHelp: { ...first, activeSignature: 1 },
  };
  expect(await ask("a: {{ salt['drink.make'](1‸) }}", { context })).toMatchObject({
    activeSignature: 1,
    activeParameter: 0,
  });
});

test('lsp: marks parameters by their columns for editors that can show no parameter', async () => {
  const client = await startEditor(dir, {
    capabilities: {
      textDocument: {
        signatureHelp: {
          signatureInformation: {
            parameterInformation: { labelOffsetSupport: true },
            noActiveParameterSupport: true,
          },
        },
      },
    },
  });
  expect(client.server.capabilities.signatureHelpProvider?.triggerCharacters).toContain('(');
  const help = await ask("a: {{ salt['greet.all'](size=‸) }}", { client });
  expect(help).toMatchObject({ activeParameter: null });
  const [one] = help?.signatures ?? [];
  expect(
    one?.parameters?.map(({ label }) => one.label.slice(...(label as [number, number]))),
  ).toEqual(['first', '*others']);
}, 60_000);
