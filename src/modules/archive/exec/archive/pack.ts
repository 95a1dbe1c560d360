import { isAbsolute, join, relative, resolve } from 'node:path';
import { runChecked } from '../../../_shared/commands/run-command.ts';
import { writeAtomic } from '../../../_shared/files/atomic-write.ts';
import { globPaths } from '../../../_shared/files/glob-paths.ts';
import { lstatSync, readdirSync, readFileSync, statSync } from '../../../_shared/safe-fs/fs.ts';
import { splitCommandArgs } from '../../../_shared/text/command-args.ts';
import { SaltInvocationError } from '../../../api.ts';
import { plainName, refuseTemplate } from '../../archive-options.ts';
import { type ZipMember, zipBytes } from '../../zip-writer.ts';

/** Accepts names as a list or separated by commas, and expands globs. */
const namesOf = (sources: string | string[] | null, cwd: string | null): string[] => {
  const all = typeof sources === 'string' ? sources.split(',') : (sources ?? []);
  return all
    .map(name => name.trim())
    .filter(Boolean)
    .flatMap(name => {
      if (!/[*?[]/.test(name)) return [name];
      if (isAbsolute(name)) return globPaths(name);
      return cwd === null ? [name] : globPaths(join(cwd, name)).map(path => relative(cwd, path));
    });
};

const run = async (
  argv: readonly [string, ...string[]],
  cwd: string | null,
  runas: string | null,
): Promise<string[]> => {
  const { stdout } = await runChecked(argv, {
    cwd: cwd ?? undefined,
    runas: runas ?? undefined,
    plainLocale: true,
    live: true,
  });
  return stdout.split('\n').filter(Boolean);
};

/**
 * Runs `tar`. For archives that are not trusted use `archive.extract`.
 *
 * @param options its options
 * @param tarfile the archive
 * @param sources files and folders to pack, separated by commas or as a list; globs are expanded
 * @param dest where to unpack
 * @param cwd where to run
 * @param template refused: names are rendered by the SLS that has them
 * @param runas run as this user
 *
 * @example tsalt-ssh '*' archive.tar czf /tmp/etc.tar.gz /etc/hosts,/etc/fstab
 */
export const tar = async (
  options: string,
  tarfile: string,
  {
    sources = null,
    dest = null,
    cwd = null,
    template = null,
    runas = null,
  }: {
    sources?: string | string[] | null;
    dest?: string | null;
    cwd?: string | null;
    template?: string | null;
    runas?: string | null;
  } = {},
): Promise<string[]> => {
  refuseTemplate(template);
  if (!options) throw new SaltInvocationError('Tar options can not be empty');
  const [first = '', ...rest] = splitCommandArgs(options);
  const letters = first.startsWith('-') ? first : `-${first}`;
  const where = dest ? ['-C', dest] : [];
  const argv: [string, ...string[]] = ['tar', letters, tarfile, ...rest, ...where];
  return run([...argv, '--', ...namesOf(sources, cwd)], cwd, runas);
};

type ZipOptions = {
  /** refused: names are rendered by the SLS that has them */
  template?: string | null;
  cwd?: string | null;
  runas?: string | null;
};

/**
 * Packs files and folders with the program `zip`. `archive.zip` does not need that program.
 *
 * @param zip_file the archive
 * @param sources files and folders to pack, separated by commas or as a list; globs are expanded
 * @param cwd where to run
 * @param runas run as this user
 *
 * @example tsalt-ssh '*' archive.cmd_zip /tmp/etc.zip hosts,fstab cwd=/etc
 */
export const cmd_zip = async (
  zip_file: string,
  sources: string | string[],
  { template = null, cwd = null, runas = null }: ZipOptions = {},
): Promise<string[]> => {
  refuseTemplate(template);
  const names = namesOf(sources, cwd).map(plainName);
  return run(['zip', '-r', plainName(zip_file), ...names], cwd, runas);
};

/**
 * Packs files and folders into a zip archive and returns the names of its members.
 *
 * @param zip_file the archive
 * @param sources files and folders to pack, separated by commas or as a list; globs are expanded
 * @param cwd names are relative to this folder
 * @param runas pack as this user, by the program `zip`
 * @param zip64 has no effect: an archive of more than 4 GB, or 65,535 members, is refused
 *
 * @example tsalt-ssh '*' archive.zip /tmp/etc.zip /etc/hosts,/etc/cron.d
 */
export const zip = async (
  zip_file: string,
  sources: string | string[],
  {
    template = null,
    cwd = null,
    runas = null,
    zip64: _zip64 = false,
  }: ZipOptions & { zip64?: boolean } = {},
): Promise<string[]> => {
  refuseTemplate(template);
  if (cwd !== null && !isAbsolute(cwd)) throw new SaltInvocationError('cwd must be absolute');
  const names = namesOf(sources, cwd);
  if (cwd === null && names.some(name => !isAbsolute(name)))
    throw new SaltInvocationError("Relative paths require the 'cwd' parameter");
  if (runas) return cmd_zip(zip_file, names, { cwd, runas });
  const members = names.flatMap(name => membersOf(resolve(cwd ?? '/', name), cwd ?? '/'));
  writeAtomic(zip_file, zipBytes(members));
  return members.map(({ name }) => name);
};

/**
 * Returns a file, or a folder with everything below it. Leaves out special files, and links to
 * folders, which could form loops.
 */
const membersOf = (path: string, root: string): ZipMember[] => {
  const stat = statSync(path, { throwIfNoEntry: false });
  const { mtime, mode } = stat ?? { mtime: new Date(0), mode: 0 };
  const name = relative(root, path);
  if (stat?.isFile()) return [{ name, mtime, mode, content: () => readFileSync(path) }];
  if (!stat?.isDirectory()) return [];
  const own: ZipMember[] = name === '' ? [] : [{ name: `${name}/`, mtime, mode }];
  const inside = readdirSync(path)
    .sort()
    .map(each => join(path, each))
    .filter(each => !isLinkToFolder(each));
  return [...own, ...inside.flatMap(each => membersOf(each, root))];
};

const isLinkToFolder = (path: string): boolean =>
  lstatSync(path).isSymbolicLink() &&
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

type GzipOptions = {
  /** refused: names are rendered by the SLS that has them */
  template?: string | null;
  /** run as this user */
  runas?: string | null;
  options?: string | null;
};

const gzipper =
  (program: 'gzip' | 'gunzip') =>
  async (file: string, { template, runas, options }: GzipOptions): Promise<string[]> => {
    refuseTemplate(template ?? null);
    return run([program, ...splitCommandArgs(options ?? ''), '--', file], null, runas ?? null);
  };

/**
 * Packs a file with gzip: `FILE.gz` takes its place.
 *
 * @param sourcefile the file
 * @param options of `gzip`: `-9 -k`
 *
 * @example tsalt-ssh '*' archive.gzip /var/log/big.log
 */
export const gzip = async (
  sourcefile: string,
  { template = null, runas = null, options = null }: GzipOptions = {},
): Promise<string[]> => gzipper('gzip')(sourcefile, { template, runas, options });

/**
 * Unpacks a file that gzip packed: the file without `.gz` takes its place.
 *
 * @param gzipfile the file
 * @param options of `gunzip`: `-k`
 *
 * @example tsalt-ssh '*' archive.gunzip /var/log/big.log.gz
 */
export const gunzip = async (
  gzipfile: string,
  { template = null, runas = null, options = null }: GzipOptions = {},
): Promise<string[]> => gzipper('gunzip')(gzipfile, { template, runas, options });
