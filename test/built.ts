import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { makeCodeCache } from './helpers/code-cache.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Tests run the built command line: a clone that has none yet gets it before the first of them. */
export const setup = (): void => {
  makeCodeCache();
  if (['main.cjs', 'tsalt-ssh.cjs'].every(name => existsSync(`${root}dist/${name}`))) return;
  execFileSync(process.execPath, [`${root}scripts/build.mjs`], { stdio: 'inherit' });
};
