import { basename } from 'node:path';
import { getOwn } from '../../../protocol/plain.ts';
import { CommandExecutionError } from '../../api.ts';
import { contentText } from '../files/file-content.ts';
import { hashLengths } from '../files/file-hash.ts';
import { exists } from '../files/file-paths.ts';
import { readFileSync } from '../safe-fs/fs.ts';
import { controlFile } from './control-files.ts';
import { download } from './download.ts';
import { parseSource } from './source-url.ts';

export type SourceSum = { readonly hash_type: string; readonly hsum: string };

type Names = {
  readonly name?: string;
  readonly source?: string;
  readonly sourceHashName?: string | null | undefined;
  /** false: take any certificate of the web server that has the file of hashes. */
  readonly verify?: boolean | undefined;
};

/**
 * Resolves a `source_hash`: a hash, `type=hash`, or the location of a file of hashes (a path, or a
 * `salt://` or `http(s)://` URL) in which the file's name is looked up.
 */
export const sourceSum = async (
  sourceHash: string,
  saltenv: string,
  names: Names = {},
): Promise<SourceSum> => {
  const { scheme } = parseSource(sourceHash);
  if (sourceHash.startsWith('/') || sourceHash.includes('://')) {
    if (scheme === 'other') throw invalid(sourceHash);
    const found = findHash(await readHashes(sourceHash, saltenv, names.verify), names);
    if (!found) throw invalid(sourceHash);
    return found;
  }
  return parseHash(sourceHash);
};

const typeByLength = (length: number): string | undefined =>
  Object.entries(hashLengths).find(([, size]) => size === length)?.[0];

const parseHash = (text: string): SourceSum => {
  const [left = '', right] = text.split(/=(.*)/s).map(part => part.trim());
  const hsum = (right ?? left).toLowerCase();
  const byLength = typeByLength(hsum.length);
  if (!/^[0-9a-f]+$/.test(hsum) || byLength === undefined) throw invalid(text);
  if (right === undefined) return { hash_type: byLength, hsum };
  if (!Object.hasOwn(hashLengths, left))
    throw new CommandExecutionError(
      `Invalid hash type '${left}'. Supported hash types are: ${Object.keys(hashLengths).join(', ')}. Either remove the hash type and simply use '${hsum}' as the source_hash, or change the hash type to a supported type.`,
    );
  if (getOwn(hashLengths, left) !== hsum.length)
    throw new CommandExecutionError(
      `Invalid length (${hsum.length}) for hash type '${left}'. Either remove the hash type and simply use '${hsum}' as the source_hash, or change the hash type to '${byLength}'`,
    );
  return { hash_type: left, hsum };
};

const readHashes = async (
  place: string,
  saltenv: string,
  verify: boolean | undefined,
): Promise<string> => {
  const url = parseSource(place);
  if (url.scheme === 'salt') {
    const file = await controlFile(url.path, url.saltenv ?? saltenv);
    if (!file) throw new CommandExecutionError(`Source hash file ${place} not found`);
    return contentText(await file.content());
  }
  if (url.scheme !== 'file') return contentText((await download(place, { verify })).content);
  if (!exists(url.path)) throw new CommandExecutionError(`Source hash file ${place} not found`);
  return readFileSync(url.path, 'utf8');
};

/** The hash in a line that names the file; by source_hash_name, name, source; else the first one. */
export const findHash = (text: string, names: Names): SourceSum | undefined => {
  const lines = text.split('\n').flatMap(line => {
    const hsum = line.match(/(?<![a-z0-9])([a-f0-9]{32,128})(?![a-z0-9])/i)?.[1];
    const hash_type = typeByLength(hsum?.length ?? 0);
    return hsum && hash_type
      ? [{ line: line.trim(), sum: { hash_type, hsum: hsum.toLowerCase() } }]
      : [];
  });
  const wanted: [string | null | undefined, RegExp][] = [
    [names.sourceHashName, /\s/],
    [names.name && basename(names.name), /[\s\\/*]/],
    [names.source && basename(new URL(names.source, 'file:///').pathname), /[\s\\/*]/],
  ];
  for (const [name, separator] of wanted) {
    const hit = name && lines.find(({ line }) => namesFile(line, name, separator));
    if (hit) return hit.sum;
  }
  return lines[0]?.sum;
};

const namesFile = (line: string, name: string, separator: RegExp): boolean =>
  (line.endsWith(name) && separator.test(line.at(-name.length - 1) ?? '')) ||
  (line.startsWith(name) && /\s/.test(line[name.length] ?? ''));

const invalid = (hash: string): CommandExecutionError => {
  const lengths = Object.entries(hashLengths)
    .sort(([, a], [, b]) => a - b)
    .map(([type, length]) => `${type} (${length})`);
  return new CommandExecutionError(
    `Source hash ${hash} format is invalid. The supported formats are: 1) a hash, 2) an expression in the format <hash_type>=<hash>, or 3) either a path to a local file containing hashes, or a URI of a remote hash file. Supported protocols for remote hash files are: salt, file, http, https. The hash may also not be of a valid length, the following are supported hash types and lengths: ${lengths.join(', ')}.`,
  );
};
