import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { packageRoot } from '../../helpers/cli.ts';
import { lspProject, startEditor } from '../../helpers/lsp-client.ts';

/** A project of someone else: each of its parts leaves a file when it is run. */
const hostile = (): string => {
  const dir = lspProject({});
  const program = (name: string): string => `touch ${join(dir, name)}`;
  const files: Readonly<Record<string, string>> = {
    'tsalt.yaml': `cachedir: cache\nrosters: [{script: ./roster.sh}, roster.yaml]\next_pillar: [{cmd_yaml: ${program('ran-pillar')}}]\n`,
    'roster.sh': `#!/bin/sh\n${program('ran-roster')}\necho '{}'\n`,
    'roster.yaml': 'web1: 192.0.2.1\n',
    'states/top.sls': "base: {'*': [web]}\n",
    'states/web.sls': `#!ts\nimport { execSync } from 'node:child_process';\nexecSync('${program('ran-sls')}');\nexport default {};\n`,
    'states/_renderers/own.ts': `import { execSync } from 'node:child_process';\nexecSync('${program('ran-renderer')}');\nexport const render = (text: string) => text;\n`,
    'states/own.sls': '#!own|yaml\nx:\n  test.nop: []\n',
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(dir, path, '..'), { recursive: true });
    writeFileSync(join(dir, path), text, { mode: path.endsWith('.sh') ? 0o755 : 0o644 });
  }
  return dir;
};
const ranIn = (dir: string): string[] =>
  ['ran-pillar', 'ran-roster', 'ran-sls', 'ran-renderer'].filter(name =>
    existsSync(join(dir, name)),
  );
const homeIn = (dir: string): string => {
  const home = join(dir, 'home');
  mkdirSync(home, { mode: 0o700 });
  return home;
};
const lsp = (home: string, ...args: string[]) =>
  promisify(execFile)(process.execPath, [`${packageRoot}dist/tsalt-ssh.cjs`, 'lsp', ...args], {
    cwd: home,
    env: { ...process.env, HOME: home },
  });

test.each([
  { name: 'nobody has trusted it', start: { options: {} }, isShown: true },
  { name: 'the editor says that its user does not', start: { options: { trusted: false } } },
  { name: 'the option --untrusted is given', start: { args: ['--untrusted'] } },
  { name: 'the setting render is off', start: { options: { trusted: true, render: false } } },
])('lsp: runs nothing of a folder when $name', async ({ start, isShown = false }) => {
  const dir = hostile();
  const editor = await startEditor(dir, { ...start, env: { HOME: homeIn(dir) } });
  for (const path of ['states/web.sls', 'states/own.sls']) {
    await editor.open(path, '#!jinja|yaml\n{{ 1 // 0 }}:\n  test.nope: []\n');
    expect(await editor.diagnostics(path)).toEqual([]);
    await editor.type(path, 'x: [\n');
    expect(await editor.diagnostics(path)).toMatchObject([{ severity: 1 }]);
  }
  expect(ranIn(dir)).toEqual([]);
  expect(editor.messages).toEqual(
    isShown ? [expect.stringContaining(`tsalt-ssh lsp trust ${dir}`)] : [],
  );
});

test.each([
  { name: 'the editor says so', start: {} },
  { name: 'the option --trust is given', start: { args: ['--trust'], options: {} } },
])('lsp: checks a folder as validate does when $name', { tags: 'slow' }, async ({ start }) => {
  const dir = hostile();
  const editor = await startEditor(dir, { ...start, env: { HOME: homeIn(dir) } });
  await editor.open('states/web.sls', '#!jinja|yaml\nx:\n  test.nope: []\n');
  expect(await editor.diagnostics('states/web.sls')).toMatchObject([{ code: 'unknown-function' }]);
  expect(ranIn(dir)).toEqual(['ran-pillar', 'ran-roster']);
  expect(editor.messages).toEqual([]);
});

test('lsp: a folder that is trusted while it is open is checked from then on, until it is untrusted', {
  tags: 'slow',
}, async () => {
  const dir = lspProject({ 'roster.yaml': 'web1: 192.0.2.1\n', 'states/web.sls': 'x:\n' });
  const home = homeIn(lspProject({}));
  const wrong = '#!jinja|yaml\nx:\n  test.nope: []\n';
  const editor = await startEditor(dir, { options: {}, env: { HOME: home } });
  await editor.open('states/web.sls', wrong);
  expect(await editor.diagnostics('states/web.sls')).toEqual([]);

  const link = join(home, 'link');
  symlinkSync(dir, link);
  expect((await lsp(home, 'trust', link)).stdout).toBe(`Editors may run the code of ${dir}.\n`);
  await editor.type('states/web.sls', `${wrong}# 1\n`);
  expect(await editor.diagnostics('states/web.sls')).toMatchObject([{ code: 'unknown-function' }]);
  expect((await lsp(home, 'trusted')).stdout).toBe(`${dir}\n`);

  await lsp(home, 'untrust', dir);
  await editor.type('states/web.sls', `${wrong}# 2\n`);
  expect(await editor.diagnostics('states/web.sls')).toEqual([]);
  expect((await lsp(home, 'trusted')).stdout).toBe('');
});

test('lsp: a trusted folder does not make trusted what has a similar name or is above it', {
  tags: 'slow',
}, async () => {
  const home = homeIn(lspProject({}));
  const project = (folder: string) => ({
    [`${folder}/tsalt.yaml`]: 'cachedir: cache\n',
    [`${folder}/roster.yaml`]: 'web1: 192.0.2.1\n',
    [`${folder}/states/web.sls`]: 'x:\n',
  });
  const above = lspProject({
    ...project('a'),
    ...project('ab'),
    ...project('a/b'),
    ...project('.'),
  });
  await lsp(home, 'trust', join(above, 'a'));
  for (const [folder, isTrusted] of [
    ['a', true],
    ['a/b', true],
    ['ab', false],
    ['.', false],
  ] as const) {
    const editor = await startEditor(join(above, folder), { options: {}, env: { HOME: home } });
    await editor.open('states/web.sls', '#!jinja|yaml\n{{ 1 // 0 }}: 1\n');
    const found = await editor.diagnostics('states/web.sls');
    expect({ folder, isTrusted: found.length > 0 }).toEqual({ folder, isTrusted });
    await editor.exit();
  }
});

test('lsp: other words are refused', async () => {
  const home = homeIn(lspProject({}));
  for (const words of [['turst'], ['trust', '/no/such'], ['trusted', 'x'], ['trust', '.', 'y']])
    await expect(lsp(home, ...words)).rejects.toMatchObject({ code: 64 });
  await expect(lsp(home, '--trust', '--untrusted')).rejects.toMatchObject({ code: 64 });
});
