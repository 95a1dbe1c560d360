import { basename, join } from 'node:path';
import { getOwn } from '../../../../protocol/plain.ts';
import { runCommand } from '../../../_shared/commands/run-command.ts';
import { hashFile } from '../../../_shared/files/file-hash.ts';
import { expandUser, lstatOf, statOf } from '../../../_shared/files/file-paths.ts';
import { globPaths } from '../../../_shared/files/glob-paths.ts';
import { groupName, userName } from '../../../_shared/files/owner-names.ts';
import { readNames } from '../../../_shared/files/read-file.ts';
import { rmSync, type Stats } from '../../../_shared/safe-fs/fs.ts';
import { splitCommandArgs } from '../../../_shared/text/command-args.ts';
import { SaltInvocationError } from '../../../api.ts';
import {
  byContent,
  byGroup,
  byName,
  byNameInAnyCase,
  byOwner,
  byPattern,
  byPatternInAnyCase,
  bySize,
  byTime,
  byType,
  type FindTest,
  fileLetter,
  splitList,
  type WalkedFile,
} from '../../find-tests.ts';

type FindOptions = {
  name?: string | null;
  iname?: string | null;
  regex?: string | null;
  iregex?: string | null;
  type?: string | null;
  owner?: string | number | null;
  user?: string | number | null;
  group?: string | number | null;
  size?: string | number | null;
  mtime?: string | number | null;
  grep?: string | null;
  maxdepth?: number | null;
  mindepth?: number | null;
  print?: string | null;
  exec?: string | null;
  delete?: string | boolean | null;
  test?: boolean;
};

type Value = string | number;
type Shown = Value | Value[];
type Action = (found: WalkedFile) => Promise<Shown | undefined>;

/**
 * Finds files below a directory, or below the paths that a glob matches. The results are sorted. A
 * symlink is treated like its target.
 *
 * @param path the directory or glob to search
 * @param name glob for the name
 * @param iname glob for the name, ignoring case
 * @param regex regular expression (Python's syntax) that the name begins with
 * @param iregex regular expression that the name begins with, ignoring case
 * @param type letters: `f` file, `d` directory, `l` broken symlink, `b`, `c`, `p`, `s`
 * @param owner names or ids of owners, separated by commas or spaces
 * @param user alias of `owner`
 * @param group names or ids of groups, separated by commas or spaces
 * @param size `+10m` this size and larger, `-1k` that and smaller, `512b`
 * @param mtime changed longer ago than `2w`, `3d`, `12h`; with a leading `-`: changed since then
 * @param grep regular expression that a file's content has
 * @param maxdepth search at most this many levels deep
 * @param mindepth leave out files above this level
 * @param print values to return: `path`, `name`, `size`, `type`, `user`, `group`, `mode`, `mtime`, `md5`, separated by commas
 * @param exec run this command for each file, with `{}` replaced by its path; returns its output
 * @param delete delete found files of these types: letters as in `type`, or `a` for all
 * @param test true: only report what `delete` would delete
 * @param actions `delete` (plain files) or `print` as words
 *
 * @example tsalt-ssh '*' file.find /var/log name='*.gz' mtime=30d print=path,size
 * @example tsalt-ssh '*' file.find /var/tmp type=f mtime=30d delete=f
 */
export const find = async (
  path: string,
  {
    maxdepth = null,
    mindepth = null,
    print = null,
    exec = null,
    delete: remove = null,
    test = false,
    name = null,
    iname = null,
    regex = null,
    iregex = null,
    type = null,
    owner = null,
    user = null,
    group = null,
    size = null,
    mtime = null,
    grep = null,
  }: FindOptions = {},
  ...actions: string[]
): Promise<Shown[]> => {
  const types = actions.includes('delete') ? 'f' : deletedTypes(remove);
  const wrong = actions.find(word => word !== 'delete' && word !== 'print');
  if (wrong !== undefined)
    throw new SaltInvocationError(`file.find takes its options by name: '${wrong}' has none`);
  const tests = [
    testOf(name, byName),
    testOf(iname, byNameInAnyCase),
    testOf(regex, byPattern),
    testOf(iregex, byPatternInAnyCase),
    testOf(type, byType),
    testOf(owner ?? user, byOwner),
    testOf(group, byGroup),
    testOf(size, bySize),
    testOf(mtime, byTime),
    testOf(types, byType),
    testOf(grep, byContent),
  ].filter(item => item !== undefined);
  const todo = [
    ...(print !== null || (exec === null && types === null) ? [printer(print)] : []),
    ...(exec === null ? [] : [runner(exec)]),
    ...(types ? [deleter(test)] : []),
  ];
  const shown: Shown[] = [];
  for (const start of globPaths(expandUser(path)))
    for (const found of walk(start, { max: maxdepth, min: mindepth ?? 0 }))
      if (tests.every(fits => fits(found)))
        for (const act of todo) {
          const item = await act(found);
          if (item !== undefined) shown.push(item);
        }
  return shown.sort(compare);
};

const testOf = (given: Value | null, make: (text: string) => FindTest): FindTest | undefined =>
  given === null || given === '' ? undefined : make(String(given));

/** Yields directories before their contents, so that a deleted directory is not searched. */
function* walk(
  path: string,
  depths: { readonly max: number | null; readonly min: number },
  depth = 0,
): Generator<WalkedFile> {
  const stats = statOf(path) ?? lstatOf(path);
  if (!stats) return;
  if (depth >= depths.min) yield { path, stats };
  if (depths.max !== null && depth >= depths.max) return;
  if (!isOpen(path, stats, depth)) return;
  for (const name of readNames(path)) yield* walk(join(path, name), depths, depth + 1);
}

/** Directories are searched; links to directories only at the start. */
const isOpen = (path: string, stats: Stats, depth: number): boolean => {
  const now = depth === 0 ? stats : lstatOf(path);
  return now?.isDirectory() === true;
};

const printer = (print: string | null): Action => {
  const wanted = splitList(print ?? '');
  for (const word of wanted)
    if (!Object.hasOwn(fields, word))
      throw new SaltInvocationError(`invalid print option: "${word}"`);
  return async found => {
    const values = (wanted.length > 0 ? wanted : ['path']).map(
      word => getOwn(fields, word)?.(found) ?? '',
    );
    return values.length === 1 ? values[0] : values;
  };
};

const fields: Readonly<Record<string, (found: WalkedFile) => Value>> = {
  path: ({ path }) => path,
  name: ({ path }) => basename(path),
  size: ({ stats }) => stats.size,
  type: ({ stats }) => fileLetter(stats),
  user: ({ stats }) => userName(stats.uid),
  group: ({ stats }) => groupName(stats.gid),
  mode: ({ stats }) => stats.mode & 0o777,
  mtime: ({ stats }) => Math.floor(stats.mtimeMs / 1000),
  md5: ({ path, stats }) => (stats.isFile() ? hashFile(path, 'md5') : ''),
};

const runner =
  (command: string): Action =>
  async ({ path }) => {
    const [program, ...args] = splitCommandArgs(command).map(word => word.replaceAll('{}', path));
    if (program === undefined) throw new SaltInvocationError('exec needs a command');
    const { stdout } = await runCommand([program, ...args]);
    return `${command.replaceAll('{}', path)}:\n${stdout}\n`;
  };

const deletedTypes = (given: string | boolean | null): string | null => {
  if (given === null || given === false || given === '') return null;
  const letters = given === true ? 'f' : given;
  return letters.includes('a') ? 'bcdpfls' : letters;
};

const deleter =
  (test: boolean): Action =>
  async ({ path }) => {
    if (!test) rmSync(path, { recursive: true, force: true });
    return path;
  };

/** Sorts like Python: numbers by value, strings by characters, lists item by item. */
const compare = (a: Shown, b: Shown): number => {
  if (Array.isArray(a) && Array.isArray(b)) {
    for (let at = 0; at < Math.min(a.length, b.length); at += 1) {
      const order = compare(a[at] ?? '', b[at] ?? '');
      if (order !== 0) return order;
    }
    return a.length - b.length;
  }
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0;
};
