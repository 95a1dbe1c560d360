import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import { TsaltError } from '../protocol/error.ts';

/** The sources that an artifact is bundled from, and the bundler's own, which decide how. */
const packedFolders = ['bundle', 'data', 'memory', 'modules', 'protocol', 'runtime'];

/** Generated for the checks of this project; nothing imports it. */
const generated = /^builtin-functions\.ts$/;

/** Sources in one file, and the name of exactly these sources. */
export type PackedSources = { readonly id: string; readonly bytes: Uint8Array };

/**
 * Packs the sources of a package: in the npm package they are one compressed file.
 *
 * @param root the folder of the package
 */
export const packSources = (root: string): PackedSources => {
  const paths = packedFolders.flatMap(name =>
    readdirSync(join(root, 'src', name), { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile() && !generated.test(entry.name))
      .map(entry => relative(root, join(entry.parentPath, entry.name))),
  );
  const entries = ['package.json', ...paths.sort()].map(path => [
    path,
    readFileSync(join(root, path), 'utf8'),
  ]);
  const text = JSON.stringify(entries);
  const { BROTLI_PARAM_QUALITY: quality, BROTLI_PARAM_LGWIN: window } = constants;
  return {
    id: createHash('sha256').update(text).digest('hex').slice(0, 32),
    bytes: brotliCompressSync(text, { params: { [quality]: 9, [window]: 24 } }),
  };
};

/**
 * Writes packed sources into a folder, readable by this user only.
 *
 * @param file has the bytes that `packSources` returned
 * @param to an empty private folder
 * @throws `TsaltError('no-package')` when the file is damaged, and errors of the file system
 */
export const unpackSources = (file: string, to: string): void => {
  const entries = readPacked(file);
  for (const folder of new Set(entries.map(([path]) => dirname(path))))
    mkdirSync(join(to, folder), { recursive: true, mode: 0o700 });
  for (const [path, text] of entries)
    writeFileSync(join(to, path), text, { flag: 'wx', mode: 0o600 });
};

const readPacked = (file: string): [path: string, text: string][] => {
  const bytes = readFileSync(file);
  try {
    return JSON.parse(brotliDecompressSync(bytes).toString('utf8'));
  } catch {
    throw new TsaltError('no-package', `${file} is damaged`, {
      kind: 'internal',
      hint: 'Install the package again.',
    });
  }
};
