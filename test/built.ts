import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeCodeCache } from './helpers/code-cache.ts';
import { removeFolder } from './helpers/remove-folder.ts';
import { runPrefix } from './helpers/run-prefix.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Tests run the built command line: a clone that has none yet gets it before the first of them. */
export const setup = (): void => {
  makeCodeCache();
  if (['main.cjs', 'tsalt-ssh.cjs'].every(name => existsSync(`${root}dist/${name}`))) return;
  execFileSync(process.execPath, [`${root}scripts/build.mjs`], { stdio: 'inherit' });
};

/** Removes the temporary folders of files whose tests were all skipped: no hook runs for these. */
export const teardown = (): void => {
  for (const name of readdirSync(tmpdir()))
    if (name.startsWith(runPrefix(process.pid))) removeFolder(join(tmpdir(), name));
};
