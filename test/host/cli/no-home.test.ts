import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../../helpers/cli.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';

test.skipIf(process.getuid?.() !== 0)(
  'the command line runs for a user who has no home and no entry in passwd',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'tsalt-no-home-'));
    try {
      for (const name of ['main.cjs', 'tsalt-ssh.cjs'])
        copyFileSync(join(packageRoot, 'dist', name), join(folder, name));
      execFileSync('chmod', ['-R', 'a+rX', folder]);
      const text = execFileSync(process.execPath, [join(folder, 'tsalt-ssh.cjs'), '--version'], {
        cwd: '/',
        env: { PATH: dirname(process.execPath) },
        uid: 61234,
        gid: 61234,
        encoding: 'utf8',
      });
      expect(text).toMatch(/^tsalt-ssh /);
    } finally {
      removeFolder(folder);
    }
  },
);
