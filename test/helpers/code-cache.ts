import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runPrefix } from './run-prefix.ts';

/*
 * The command line keeps V8's code of its programs in the user's cache folder. Each project has a
 * folder of its own: each would spend a third of a second on the first command of each kind.
 */

const name = 'TSALT_TEST_CODE';

/** Makes the folder that the projects of this run of vitest take code from, and give theirs to. */
export const makeCodeCache = (): void => {
  process.env[name] ??= mkdtempSync(join(tmpdir(), `${runPrefix(process.pid)}code-`));
};

/** Puts the code that former projects left into a user's cache folder, as a former run would have. */
export const takeCode = (cacheHome: string): void => {
  const own = join(cacheHome, 'tsalt-ssh');
  mkdirSync(own, { recursive: true, mode: 0o700 });
  copyCode(process.env[name], own);
};

/** Keeps the code that the commands of a project compiled, for projects to come. */
export const keepCode = (cacheHome: string): void =>
  copyCode(join(cacheHome, 'tsalt-ssh'), process.env[name]);

/** Copies code that the other folder has not, or less of: it has the functions that a run called. */
const copyCode = (from: string | undefined, to: string | undefined): void => {
  if (from === undefined || to === undefined || !existsSync(from)) return;
  for (const file of readdirSync(from).filter(one => /^cli-.*\.cache$/.test(one))) {
    const [source, target] = [join(from, file), join(to, file)];
    const known = statSync(target, { throwIfNoEntry: false })?.size ?? 0;
    if (statSync(source).size <= known) continue;
    const partial = `${target}.${process.pid}`;
    copyFileSync(source, partial);
    renameSync(partial, target);
  }
};
