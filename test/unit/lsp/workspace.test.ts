import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { Workspace } from '../../../src/lsp/workspace.ts';
import { scratch } from '../../helpers/hosts.ts';

const { path: dir, remove } = scratch('tsalt-lsp');
afterAll(remove);

test('a named pipe in the project does not hold up the language server', () => {
  mkdirSync(join(dir, 'states'), { mode: 0o700 });
  writeFileSync(join(dir, 'tsalt.yaml'), 'file_roots: {base: [states]}\n', { mode: 0o600 });
  writeFileSync(join(dir, 'states/site.sls'), 'a: test.nop\n', { mode: 0o600 });
  execFileSync('mkfifo', ['-m', '600', join(dir, 'states/pipe.sls')]);
  const workspace = new Workspace({ config: loadConfig({ cwd: dir, env: {} }) }, new Map());
  expect(workspace.text(join(dir, 'states/site.sls'))).toBe('a: test.nop\n');
  expect(workspace.text(join(dir, 'states/pipe.sls'))).toBeUndefined();
});
