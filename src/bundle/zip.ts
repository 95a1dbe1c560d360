import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, sep } from 'node:path';
import type { Plugin } from 'esbuild';
import { unzipSync } from 'fflate';
import { messageOf } from '../protocol/error.ts';
import { makeFolder } from '../trust/make-folder.ts';
import { cannotWrite } from '../trust/spare-cache.ts';
import type { FoundModule } from './discover.ts';
import { sha256 } from './inputs.ts';
import { portablePath } from './portable-path.ts';
import { privateDir } from './private-dir.ts';

const maxFiles = 10_000;
const maxBytes = 64 * 1024 * 1024;
const indexNames = ['index.ts', 'index.mts', 'index.js', 'index.mjs', 'index.cjs'];

/**
 * Unpacks a module that is a zip archive into a private folder named by its hash. The archive
 * contains one folder with the module's name and an index file in it. Anything else (names that
 * lead out of the folder, too many or too large files) makes the module broken.
 */
export const openZip = (module: FoundModule, cache: string): FoundModule => {
  if (module.zip === undefined) return module;
  try {
    const { folder, index } = unpack(module.zip, cache);
    const home = { path: folder, name: portablePath(module.home, module.zip) };
    return { ...module, files: [index], home };
  } catch (error) {
    // The archive is correct: try another cache folder.
    if (cannotWrite(cache, error)) throw error;
    const reason = messageOf(error);
    return { ...module, broken: `${reason} (${module.zip})` };
  }
};

/** Names unpacked files by their archives: the folder in the cache means nothing to a user. */
export const inArchives =
  (modules: readonly FoundModule[]): ((text: string) => string) =>
  text =>
    modules.reduce(
      (named, { zip, files, home }) =>
        zip === undefined || files.length === 0
          ? named
          : named.replaceAll(`${home.path}${sep}`, `${zip}${sep}`),
      text,
    );

/** Resolves imports by an archive's own name, as `import 'lumberjack/sleep'` in lumberjack.zip. */
export const archiveImports: Plugin = {
  name: 'archive-imports',
  setup: build => {
    build.onResolve({ filter: /^[^./]/ }, ({ path, importer, kind }) => {
      const folder = /^.*[\\/]zip[\\/][0-9a-f]{64}(?=[\\/])/.exec(importer)?.[0];
      const [first = ''] = path.split('/');
      return folder !== undefined && existsSync(join(folder, first))
        ? build.resolve(`./${path}`, { resolveDir: folder, kind })
        : undefined;
    });
  },
};

const unpack = (zip: string, cache: string): { folder: string; index: string } => {
  const bytes = readFileSync(zip);
  const name = basename(zip, '.zip');
  const folder = join(privateDir(cache), sha256(bytes));
  if (!existsSync(folder)) unpackInto(folder, readEntries(bytes));
  const index = indexNames.map(file => join(folder, name, file)).find(path => existsSync(path));
  if (index !== undefined) return { folder, index };
  throw new Error(`the archive has no ${name}/index.ts (or .js)`);
};

const readEntries = (bytes: Uint8Array): Record<string, Uint8Array> => {
  let count = 0;
  let total = 0;
  const entries = unzipSync(bytes, {
    filter: ({ name, originalSize }) => {
      count += 1;
      total += originalSize;
      checkName(name);
      if (count > maxFiles) throw new Error(`the archive has more than ${maxFiles} files`);
      if (total > maxBytes) throw new Error('the archive unpacks to more than 64 MiB');
      return !name.endsWith('/');
    },
  });
  return entries;
};

const checkName = (name: string): void => {
  const bad =
    name === '' ||
    /^[/\\]|^[A-Za-z]:|\0|\\/.test(name) ||
    name.split('/').some(part => part === '..' || part === '.');
  if (bad) throw new Error(`the archive has a file with an unsafe name: ${JSON.stringify(name)}`);
};

const unpackInto = (folder: string, entries: Record<string, Uint8Array>): void => {
  const temporary = `${folder}.${process.pid}`;
  rmSync(temporary, { recursive: true, force: true });
  for (const [name, content] of Object.entries(entries)) {
    const path = join(temporary, name);
    makeFolder(join(path, '..'), 0o700);
    writeFileSync(path, content, { mode: 0o600, flag: 'wx' });
  }
  makeFolder(temporary, 0o700);
  try {
    renameSync(temporary, folder);
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    if (readdirSync(folder).length === 0) throw error;
  }
};
