import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { TsaltError } from '../protocol/error.ts';

/**
 * The folder of this package: the nearest one above `from` whose package.json says so. It is the
 * same from `src` (tests, tsx) and from `dist`.
 * @throws `TsaltError('no-package')` when the installation is incomplete
 */
export const packageRoot = (from: string = import.meta.url): string => {
  let folder = dirname(fileURLToPath(from));
  for (;;) {
    if (packageName(folder) === 'tsalt-ssh') return folder;
    const parent = dirname(folder);
    if (parent === folder) break;
    folder = parent;
  }
  throw new TsaltError(
    'no-package',
    `tsalt-ssh does not find its own package.json above ${dirname(fileURLToPath(from))}`,
    { kind: 'internal', hint: 'Install the package again.' },
  );
};

const packageName = (folder: string): unknown => {
  try {
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).name;
  } catch {
    return undefined;
  }
};

/**
 * Identifies a version of this bundler by its own files: one file when installed, the files of this
 * folder when run from sources.
 */
export const bundlerVersion = (from: string = import.meta.url): string => {
  const own = fileURLToPath(from);
  const files = own.endsWith('.ts') ? filesIn(dirname(own)) : [own];
  return files
    .map(file => statSync(file))
    .map(({ size, mtimeMs }) => `${size} ${mtimeMs}`)
    .join(',');
};

/** Returns the paths of the files in a folder and those below it, sorted. */
export const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map(name => join(folder, name))
    .filter(path => statSync(path).isFile())
    .sort();
