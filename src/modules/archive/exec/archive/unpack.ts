/**
 * Packs and unpacks archives: tar, zip and gzip.
 *
 * @platform all
 */

import { runCommand } from '../../../_shared/commands/run-command.ts';
import { expandUser, isFile } from '../../../_shared/files/file-paths.ts';
import { rmSync } from '../../../_shared/safe-fs/fs.ts';
import { salt } from '../../../_shared/states/call.ts';
import { notDone } from '../../../_shared/states/not-done.ts';
import { toList } from '../../../_shared/states/values.ts';
import { splitCommandArgs } from '../../../_shared/text/command-args.ts';
import { CommandExecutionError, SaltInvocationError } from '../../../api.ts';
import {
  type ArchiveFormat,
  guessFormat,
  listArchive,
  type Member,
  unpackArchive,
} from '../../archive-file.ts';
import { archiveOptions, plainName, refuseTemplate } from '../../archive-options.ts';
import { withZip } from '../../zip-reader.ts';

type Fetched = {
  /** remove the copy that was fetched */
  clean?: boolean;
  /** where an archive of the file roots is */
  saltenv?: string;
  /** hash that a fetched archive must have */
  source_hash?: string | null;
  /** compare the web server's ETag to decide whether the earlier download is current */
  use_etag?: boolean;
};

/**
 * Lists the members of an archive.
 *
 * @param name the archive: a path on this host, `salt://` or a URL
 * @param archive_format `tar` or `zip`; by default, guessed from the name
 * @param options refused: how a tar archive is packed is seen from itself
 * @param strip_components number of leading path components to remove
 * @param verbose list directories, files and links separately
 * @example tsalt-ssh '*' archive.list /srv/app.tar.gz
 */
export const list = async (
  name: string,
  {
    archive_format = null,
    options = null,
    strip_components = 0,
    clean = false,
    verbose = false,
    saltenv = 'base',
    source_hash = null,
    use_etag = false,
  }: Fetched & {
    archive_format?: string | null;
    options?: string | null;
    strip_components?: number | null;
    verbose?: boolean;
  } = {},
): Promise<string[] | Record<string, string[]>> => {
  if (options)
    throw new SaltInvocationError(
      'The argument "options" of archive.list is not supported: how a tar archive is packed is seen from itself.',
    );
  const format = formatOf(name, archive_format);
  const members = await withArchive(name, { clean, saltenv, source_hash, use_etag }, path =>
    listArchive(path, format, { strip: strip_components ?? 0 }),
  );
  return verbose ? describeMembers(members, format) : shownPaths(members, format).toSorted();
};

/** Paths as Salt reports them: a directory ends in a slash. */
const shownPath = ({ path, kind }: Member): string => (kind === 'dir' ? `${path}/` : path);

/** Zip archives from Windows do not list directories, so those of the files are added. */
const shownPaths = (members: readonly Member[], format: ArchiveFormat): string[] => {
  const implied =
    format === 'zip'
      ? members
          .filter(({ kind, path }) => kind === 'file' && path.includes('/'))
          .map(({ path }) => path.slice(0, path.lastIndexOf('/') + 1))
      : [];
  return [...new Set([...members.map(shownPath), ...implied])];
};

const describeMembers = (
  members: readonly Member[],
  format: ArchiveFormat,
): Record<string, string[]> => {
  const of = (...kinds: string[]): string[] =>
    members
      .filter(({ kind }) => kinds.includes(kind))
      .map(shownPath)
      .toSorted();
  const dirs = shownPaths(members, format)
    .filter(path => path.endsWith('/'))
    .toSorted();
  const isTop = (path: string): boolean => !path.slice(0, -1).includes('/');
  const top = dirs.filter(isTop);
  // A single top-level directory without its own member.
  const [first = '/'] = new Set(dirs.map(path => path.slice(0, path.indexOf('/') + 1)));
  const isShared = first !== '/' && dirs.every(path => path.startsWith(first));
  const files = of('file', 'link');
  const links = of('symlink');
  return {
    dirs,
    files,
    links,
    top_level_dirs: isShared && !top.includes(first) ? [...top, first] : top,
    top_level_files: files.filter(isTop),
    top_level_links: links.filter(isTop),
  };
};

/** Calls `work` with an archive on this host, or with a fetched copy. */
const withArchive = async <T>(
  name: string,
  { clean, saltenv, source_hash, use_etag }: Required<Fetched>,
  work: (path: string) => Promise<T>,
): Promise<T> => {
  if (!name.includes('://')) return work(existing(name));
  const cached: unknown = await salt('cp.cache_file')(name, saltenv, { source_hash, use_etag });
  if (typeof cached !== 'string' || cached === '')
    throw new CommandExecutionError(`Failed to cache ${name}`);
  try {
    return await work(cached);
  } finally {
    if (clean) rmSync(cached, { force: true });
  }
};

/**
 * Unpacks an archive of this host.
 *
 * @param name the archive
 * @param dest where to
 * @param archive_format `tar` or `zip`; by default, guessed from the name
 * @param strip_components number of leading path components to remove
 * @param options of tar: `--strip-components=N`, `--exclude=PATTERN`, names of members, `--wildcards` for these
 * @param extract_perms keep the modes
 * @param password the password of a zip archive
 *
 * @example tsalt-ssh '*' archive.extract /srv/app.tar.gz /srv/app
 */
export const extract = async (
  name: string,
  dest: string,
  {
    archive_format = null,
    strip_components = 0,
    options = null,
    extract_perms = true,
    password = null,
  }: {
    archive_format?: string | null;
    strip_components?: number;
    options?: string | null;
    extract_perms?: boolean;
    password?: string | null;
  } = {},
): Promise<string[]> => {
  const path = existing(name);
  const format = formatOf(path, archive_format);
  const { strip, isWanted } = archiveOptions(options, format);
  return unpackArchive(path, format, expandUser(dest), {
    strip: strip_components || strip,
    isWanted,
    keepModes: extract_perms,
    ...(password === null ? {} : { password }),
  });
};

/**
 * Unpacks a zip archive on this host, like `archive.extract`. Nothing is written outside of `dest`.
 *
 * @param zip_file the archive
 * @param dest where to
 * @param excludes members to leave out, as a list or separated by commas
 * @param options refused: they are those of the program `unzip`, for `archive.cmd_unzip`
 * @param template refused: names are rendered by the SLS that has them
 * @param runas unpack as this user, by the program `unzip`
 * @param trim_output return at most 100 names, or this many
 * @param password the archive's password; refused with `runas`, because a program's arguments are
 * visible to other users
 * @param extract_perms keep the modes
 *
 * @example tsalt-ssh '*' archive.unzip /tmp/app.zip /srv/app excludes=docs/
 */
export const unzip = async (
  zip_file: string,
  dest: string,
  {
    excludes = null,
    options = null,
    template = null,
    runas = null,
    trim_output = false,
    password = null,
    extract_perms = true,
  }: {
    excludes?: string | string[] | null;
    options?: string | null;
    template?: string | null;
    runas?: string | null;
    trim_output?: boolean | number;
    password?: string | number | null;
    extract_perms?: boolean;
  } = {},
): Promise<string[]> => {
  refuseTemplate(template);
  if (options)
    throw new SaltInvocationError(
      'The argument "options" of archive.unzip is not supported; archive.cmd_unzip takes it.',
    );
  if (runas && password !== null)
    throw new SaltInvocationError(
      'The arguments "runas" and "password" of archive.unzip do not go together.',
    );
  const exclude = toList(excludes);
  if (runas)
    return cmd_unzip(zip_file, dest, { excludes: exclude, runas, trim_output, options: '-o' });
  const done = await unpackArchive(existing(zip_file), 'zip', expandUser(dest), {
    keepModes: extract_perms,
    exclude,
    ...(password === null ? {} : { password: String(password) }),
  });
  return trimmed(done, trim_output);
};

/**
 * Unpacks a zip archive with the program `unzip`. `archive.unzip` does not need that program.
 *
 * @param zip_file the archive
 * @param dest where to
 * @param excludes members to leave out, as a list or separated by commas
 * @param options further options of `unzip`, as text
 * @param template refused: names are rendered by the SLS that has them
 * @param runas unpack as this user
 * @param trim_output return at most 100 lines, or this many
 * @param password the archive's password; with it the archive is unpacked without the program,
 * because a program's arguments are visible to other users
 *
 * @example tsalt-ssh '*' archive.cmd_unzip /tmp/app.zip /srv/app options=-o
 */
export const cmd_unzip = async (
  zip_file: string,
  dest: string,
  {
    excludes = null,
    options = null,
    template = null,
    runas = null,
    trim_output = false,
    password = null,
  }: {
    excludes?: string | string[] | null;
    options?: string | null;
    template?: string | null;
    runas?: string | null;
    trim_output?: boolean | number;
    password?: string | number | null;
  } = {},
): Promise<string[]> => {
  refuseTemplate(template);
  if (password !== null)
    return unzip(zip_file, dest, { excludes, options, runas, trim_output, password });
  const exclude = toList(excludes);
  const { code, stdout, stderr } = await runCommand(
    [
      'unzip',
      ...splitCommandArgs(options ?? ''),
      plainName(zip_file),
      '-d',
      dest,
      ...(exclude.length > 0 ? ['-x', ...exclude] : []),
    ],
    { runas: runas ?? undefined, plainLocale: true, live: true },
  );
  if (code !== 0) throw new CommandExecutionError(`${stdout}${stderr}`.trim());
  return trimmed(stdout.trimEnd().split('\n'), trim_output);
};

/**
 * Whether a zip archive wants a password.
 *
 * @param name the archive: a path on this host, `salt://` or a URL
 * @example tsalt-ssh '*' archive.is_encrypted salt://app.zip
 */
export const is_encrypted = async (
  name: string,
  { clean = false, saltenv = 'base', source_hash = null, use_etag = false }: Fetched = {},
): Promise<boolean> =>
  withArchive(name, { clean, saltenv, source_hash, use_etag }, path =>
    withZip(path, async entries => entries.some(({ isEncrypted }) => isEncrypted)),
  );

/** Not supported: the program is not free, and its format has no description. */
export const rar = async (
  rarfile: string,
  sources: string | string[] | null = null,
  template: string | null = null,
  cwd: string | null = null,
  runas: string | null = null,
): Promise<never> =>
  notDone(
    'archive.rar',
    'rar is not free; zip and tar are there',
    rarfile,
    sources,
    template,
    cwd,
    runas,
  );

/** Not supported: the program is not free, and its format has no description. */
export const unrar = async (
  rarfile: string,
  dest: string | null = null,
  excludes: string | string[] | null = null,
  template: string | null = null,
  runas: string | null = null,
  trim_output: boolean | number = false,
): Promise<never> =>
  notDone(
    'archive.unrar',
    'rar is not free; zip and tar are there',
    rarfile,
    dest,
    excludes,
    template,
    runas,
    trim_output,
  );

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

const trimmed = (names: string[], trim: boolean | number): string[] => {
  const most = trim === false ? names.length : trim === true ? 100 : Number(trim);
  return names.length > most
    ? [...names.slice(0, most), `List trimmed after ${most} files.`]
    : names;
};
