import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Tests run the built command line: a clone that has none yet gets it before the first of them. */
export const setup = (): void => {
  if (['main.cjs', 'tsalt-ssh.cjs'].every(name => existsSync(`${root}dist/${name}`))) return;
  execFileSync(process.execPath, [`${root}scripts/build.mjs`], { stdio: 'inherit' });
};
