import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { builtinNames } from '../bundle/builtin-names.ts';
import { skeletonKinds, writeSkeleton } from '../bundle/skeleton.ts';
import { sourceRoot } from '../bundle/source-root.ts';
import type { Config } from '../config/config.ts';
import { TsaltError } from '../protocol/error.ts';
import { writeTypes } from './write-types.ts';

/**
 * `module new KIND NAME`: writes a module and its test into the project.
 *
 * @returns the message for the user
 * @throws TsaltError `usage-words`, `skeleton-…`
 */
export const newModule = async (words: readonly string[], config: Config): Promise<string> => {
  const [kind, name, ...more] = words;
  const [root] = config.file_roots.base ?? [];
  if (kind === undefined || name === undefined || more.length > 0)
    throw new TsaltError('usage-words', 'A new module needs a kind and a name.', {
      hint: `tsalt-ssh module new ${skeletonKinds.join('|')} NAME`,
    });
  if (root === undefined)
    throw new TsaltError('usage-words', 'There is no file root to put the module into.', {
      hint: 'Set file_roots in tsalt.yaml.',
    });
  const hidden = builtinNames(sourceRoot(), kind);
  const places = { root, testDir: join(config.dir, 'test') };
  const paths = await writeSkeleton(kind, name, places);
  const isAlone = kind === 'state' && !existsSync(join(root, '_modules', `${fileOf(name)}.ts`));
  if (isAlone && !builtinNames(sourceRoot(), 'exec').has(name))
    paths.push(...(await writeSkeleton('exec', name, places)));
  paths.push(...(await writeConfig(config.dir)));
  const types = await declare(config);
  const warning = hidden.has(name)
    ? `There is a built-in ${kind} module '${name}': yours takes its place, with all of its functions.\n`
    : '';
  const wrote = paths.map(path => `wrote ${relative(process.cwd(), path)}\n`).join('');
  return wrote + types + warning;
};

const fileOf = (name: string): string => name.replaceAll('.', '/');

/** Writes a tsconfig.json for modules and their tests, unless the project has one. */
const writeConfig = async (dir: string): Promise<string[]> => {
  const path = join(dir, 'tsconfig.json');
  if (existsSync(path)) return [];
  await writeFile(path, tsconfig, { flag: 'wx' });
  return [path];
};

const tsconfig = `{
  "compilerOptions": {
    "target": "es2022",
    "module": "nodenext",
    "types": ["node"],
    "strict": true,
    "noEmit": true,
    "allowImportingTsExtensions": true,
    "skipLibCheck": true
  }
}
`;

/** Writes the declarations of the user's functions. Leaves a file of other origin in place. */
const declare = async (config: Config): Promise<string> => {
  try {
    return await writeTypes([], config);
  } catch (error) {
    if (error instanceof TsaltError && error.code === 'types-exists') return '';
    throw error;
  }
};
