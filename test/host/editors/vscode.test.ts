import { execFile, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { unzipSync } from 'fflate';
import { expect, onTestFinished, test } from 'vitest';
import { packageRoot } from '../../helpers/cli.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';

const source = join(packageRoot, 'editors/vscode');
const isInstalled = existsSync(join(source, 'node_modules/@vscode/vsce'));
const canCutOff = spawnSync('unshare', ['--net', 'true']).status === 0;

test.skipIf(!isInstalled || !canCutOff)(
  'vscode: the extension packs without a network (needs root, npm ci in editors/vscode)',
  async () => {
    const dir = mkdtempSync(join(tmpdir(), 'vscode-'));
    onTestFinished(() => removeFolder(dir));
    const modules = join(source, 'node_modules');
    const skipped = [modules, join(source, 'dist'), join(source, 'tsalt-ssh.vsix')];
    cpSync(source, dir, { recursive: true, filter: path => !skipped.includes(path) });
    symlinkSync(modules, join(dir, 'node_modules'));
    await promisify(execFile)('unshare', ['--net', 'npm', 'run', 'pack'], { cwd: dir });

    const packed = unzipSync(readFileSync(join(dir, 'tsalt-ssh.vsix')));
    expect(Object.keys(packed).sort()).toEqual([
      '[Content_Types].xml',
      'extension.vsixmanifest',
      'extension/LICENSE.txt',
      'extension/dist/extension.js',
      'extension/language-configuration.json',
      'extension/package.json',
      'extension/readme.md',
      'extension/syntaxes/sls.json',
    ]);
    const program = Buffer.from(packed['extension/dist/extension.js'] ?? []).toString();
    expect(program).toContain('isTrusted');
    expect(program).not.toContain(packageRoot);
  },
  120_000,
);

test('vscode: the extension says that it renders nothing of folders that are not trusted', () => {
  const { capabilities, contributes } = JSON.parse(
    readFileSync(join(source, 'package.json'), 'utf8'),
  );
  expect(capabilities.untrustedWorkspaces.supported).toBe('limited');
  expect(capabilities.untrustedWorkspaces.restrictedConfigurations).toEqual(
    Object.keys(contributes.configuration.properties),
  );
});

test('vscode: the extension has the license of the project', () => {
  expect(readFileSync(join(source, 'LICENSE'), 'utf8')).toBe(
    readFileSync(join(packageRoot, 'LICENSE'), 'utf8'),
  );
});
