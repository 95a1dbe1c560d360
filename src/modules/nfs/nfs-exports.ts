import { readFileSync } from '../_shared/safe-fs/fs.ts';
import { CommandExecutionError, SaltInvocationError } from '../api.ts';

/** The clients that may mount an export, and their options. */
export type NfsClient = { hosts: string; options: string[] };

/** The exports: path → clients. */
export type NfsExports = Map<string, NfsClient[]>;

/** A line without its comment and continuation, and where it is in the file. */
type Entry = { readonly first: number; readonly last: number; readonly words: readonly string[] };

export const readExportsFile = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw new CommandExecutionError(`Cannot read ${path}: ${(error as Error).message}`);
  }
};

const entriesOf = (text: string): Entry[] => {
  const entries: Entry[] = [];
  const lines = text.split('\n');
  for (let first = 0; first < lines.length; first += 1) {
    let last = first;
    let line = lines[first] ?? '';
    while (line.endsWith('\\') && last + 1 < lines.length) {
      last += 1;
      line = line.slice(0, -1) + (lines[last] ?? '');
    }
    // A quoted path may contain blanks.
    const words = line.replace(/(^|\s)#.*$/, '').match(/(?:"[^"]*"|[^\s"])+/g) ?? [];
    if (words.length > 0) entries.push({ first, last, words });
    first = last;
  }
  return entries;
};

const pathOf = (word: string): string => word.replaceAll('"', '');
const isPath = (word: string): boolean => /^"?\//.test(word);

/** `host(ro,sync)`; a host alone has no options of its own. */
const clientOf = (word: string): NfsClient => {
  const [, hosts = '', inner] = /^([^(]*)(?:\(([^)]*)\)?)?$/.exec(word) ?? [];
  return { hosts, options: inner ? inner.split(',') : [] };
};

/** The exports of exports(5). Several paths before clients share them. */
export const parseExports = (text: string): NfsExports => {
  const found: NfsExports = new Map();
  for (const { words } of entriesOf(text)) {
    const clients = words.filter((word, at) => at > 0 && !isPath(word)).map(clientOf);
    for (const word of words.filter((each, at) => at === 0 || isPath(each))) {
      const path = pathOf(word);
      found.set(path, [...(found.get(path) ?? []), ...clients]);
    }
  }
  return found;
};

/** @throws SaltInvocationError for what the file would be read otherwise with */
export const checkExport = (path: string, clients: readonly NfsClient[]): void => {
  const words = clients.flatMap(({ hosts, options }) => [hosts, ...options]);
  const wrong = /^\/[^"\\#\n\r]*$/.test(path) ? words.find(word => /[\s()"#\\]/.test(word)) : path;
  if (wrong !== undefined)
    throw new SaltInvocationError(`'${wrong}' cannot stand in /etc/exports.`);
};

/** An entry that begins with a dash holds the options of all clients after it. */
const clientText = ({ hosts, options }: NfsClient): string =>
  hosts.startsWith('-') ? hosts : `${hosts}(${options.join(',')})`;
const lineOf = (path: string, clients: readonly NfsClient[]): string =>
  [/\s/.test(path) ? `"${path}"` : path, ...clients.map(clientText)].join(' ');

/**
 * The text with these clients of a path, in the place of its first line, or at the end; none: it is
 * exported no more. Other lines stay as they are.
 */
export const withExport = (
  text: string,
  path: string,
  clients: readonly NfsClient[] | undefined,
): string => {
  const lines: (string | undefined)[] = text.split('\n');
  const wanted = clients && lineOf(path, clients);
  let isPut = wanted === undefined;
  for (const { first, last, words } of entriesOf(text)) {
    const paths = words.filter((word, at) => at === 0 || isPath(word));
    if (!paths.some(word => pathOf(word) === path)) continue;
    const rest = paths.filter(word => pathOf(word) !== path);
    const others = words.filter((word, at) => at > 0 && !isPath(word));
    const left = rest.length > 0 ? [[...rest, ...others].join(' ')] : [];
    if (!isPut && wanted !== undefined) left.push(wanted);
    isPut = true;
    lines.fill(undefined, first, last + 1);
    lines[first] = left.length > 0 ? left.join('\n') : undefined;
  }
  const kept = lines.filter(line => line !== undefined).join('\n');
  if (isPut) return kept;
  return `${kept}${kept === '' || kept.endsWith('\n') ? '' : '\n'}${wanted}\n`;
};
