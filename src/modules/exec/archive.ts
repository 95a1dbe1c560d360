/**
 * Packs and unpacks archives: tar and zip.
 *
 * @platform all
 */
import { CommandExecutionError, SaltInvocationError } from '../api.ts';
import {
  type ArchiveFormat,
  guessFormat,
  listArchive,
  unpackArchive,
} from '../lib/archive-file.ts';
import { expandUser, isFile } from '../lib/file-paths.ts';
import { runChecked } from '../lib/run-command.ts';
import { splitWords } from '../lib/words.ts';

/**
 * What an archive on this host holds.
 *
 * @param name the archive
 * @param archive_format `tar` or `zip`; guessed from the name when left out
 * @param strip_components leading parts of each path to leave out
 * @param verbose give directories, files and links apart
 *
 * @example tsalt-ssh '*' archive.list /srv/app.tar.gz
 */
export const list = async (
  name: string,
  {
    archive_format = null,
    strip_components = 0,
    verbose = false,
  }: { archive_format?: string | null; strip_components?: number; verbose?: boolean } = {},
): Promise<string[] | Record<string, string[]>> => {
  const path = existing(name);
  const members = await listArchive(path, formatOf(path, archive_format), strip_components);
  const of = (...kinds: string[]): string[] =>
    members.filter(({ kind }) => kinds.includes(kind)).map(member => member.path);
  if (!verbose) return members.map(({ path: each, kind }) => (kind === 'dir' ? `${each}/` : each));
  return {
    dirs: of('dir'),
    files: of('file', 'link'),
    links: of('symlink'),
    top_level_dirs: of('dir').filter(each => !each.includes('/')),
  };
};

/**
 * Unpacks an archive of this host.
 *
 * @param name the archive
 * @param dest where to
 * @param archive_format `tar` or `zip`; guessed from the name when left out
 * @param strip_components leading parts of each path to leave out
 * @param extract_perms keep the modes
 * @param password of a zip archive
 *
 * @example tsalt-ssh '*' archive.extract /srv/app.tar.gz /srv/app
 */
export const extract = async (
  name: string,
  dest: string,
  {
    archive_format = null,
    strip_components = 0,
    extract_perms = true,
    password = null,
  }: {
    archive_format?: string | null;
    strip_components?: number;
    extract_perms?: boolean;
    password?: string | null;
  } = {},
): Promise<string[]> => {
  const path = existing(name);
  return unpackArchive(path, formatOf(path, archive_format), expandUser(dest), {
    strip: strip_components,
    keepModes: extract_perms,
    ...(password === null ? {} : { password }),
  });
};

/**
 * Runs `tar`. For archives that are not trusted use `archive.extract`.
 *
 * @param options its options
 * @param tarfile the archive
 * @param sources what goes in, with commas or as a list
 * @param dest where to unpack
 * @param cwd where to run
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
  }: { sources?: string | string[] | null; dest?: string | null; cwd?: string | null } = {},
): Promise<string[]> => {
  if (!options) throw new SaltInvocationError('Tar options can not be empty');
  const [first = '', ...rest] = splitWords(options);
  const letters = first.startsWith('-') ? first : `-${first}`;
  const what = typeof sources === 'string' ? sources.split(',') : (sources ?? []);
  const argv: [string, ...string[]] = ['tar', letters, tarfile, ...rest];
  if (dest) argv.push('-C', dest);
  const { stdout } = await runChecked([...argv, ...what], { cwd: cwd ?? undefined });
  return stdout.split('\n').filter(Boolean);
};

const existing = (name: string): string => {
  const path = expandUser(name);
  if (!isFile(path)) throw new CommandExecutionError(`${path} does not exist`);
  return path;
};

const formatOf = (path: string, given: string | null): ArchiveFormat => {
  if (given === 'tar' || given === 'zip') return given;
  const guessed = given === null ? guessFormat(path) : undefined;
  if (guessed) return guessed;
  throw new SaltInvocationError(
    `The format of ${path} is not known; set archive_format to tar or zip`,
  );
};
