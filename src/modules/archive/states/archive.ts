/** Manages unpacked archives. */

import { join, resolve } from 'node:path';
import { messageOf } from '../../../protocol/error.ts';
import type { AccountName } from '../../_shared/files/check-perms.ts';
import { missingAccounts } from '../../_shared/files/file-checks.ts';
import { hashFile } from '../../_shared/files/file-hash.ts';
import {
  exists,
  expandUser,
  isAbs,
  isDir,
  isFile,
  linkExists,
} from '../../_shared/files/file-paths.ts';
import { makeTempFolder, removeTemp } from '../../_shared/files/temporary.ts';
import { chooseSource } from '../../_shared/sources/file-source.ts';
import { sourceSum } from '../../_shared/sources/source-hash.ts';
import { redactUrl } from '../../_shared/sources/source-url.ts';
import { failed, newReturn } from '../../_shared/states/returns.ts';
import { __env__, __opts__, __salt__, type StateReturn } from '../../api.ts';
import { guessFormat, listArchive, type Member } from '../archive-file.ts';
import { archiveOptions } from '../archive-options.ts';
import { inTheWay, isBomb, setOwners, wronglyOwned } from '../archive-place.ts';
import { localCopy, rememberSum, unpackedSum } from '../archive-source.ts';
import { withZip } from '../zip-reader.ts';

type ExtractedOptions = {
  source_hash?: string | null;
  source_hash_name?: string | null;
  source_hash_update?: boolean;
  skip_verify?: boolean;
  keep_source?: boolean;
  options?: string | null;
  force?: boolean;
  overwrite?: boolean;
  clean?: boolean;
  user?: AccountName;
  group?: AccountName;
  if_missing?: string | null;
  trim_output?: boolean | number;
  extract_perms?: boolean;
  enforce_toplevel?: boolean;
  enforce_ownership_on?: string | null;
  archive_format?: string | null;
  password?: string | number | null;
  use_cmd_unzip?: boolean | null;
  skip_files_list_verify?: boolean;
  keep?: boolean;
  list_options?: string | null;
  clean_parent?: boolean;
  use_etag?: boolean;
};

/**
 * Makes sure that the contents of an archive are unpacked.
 *
 * @param name the directory to unpack in
 * @param source the archive: `salt://`, `http(s)://`, a path; from a list, the first that exists
 * @param source_hash hash of an archive from the web
 * @param source_hash_name name to look up in a file of hashes
 * @param source_hash_update true: also unpack when the archive is another than that unpacked before
 * @param skip_verify accept an archive from the web without a hash
 * @param skip_files_list_verify true: an archive whose `source_hash` is that of the one unpacked
 *   before is not looked into
 * @param keep_source has no effect: an archive from the web is kept for the next run
 * @param keep old name of `keep_source`
 * @param options of tar: `--strip-components=N`, `--exclude=PATTERN`, names of members, `--wildcards` for these; others are
 *   refused by name, but those that have no effect here (`xzf`, `--no-same-owner` …)
 * @param force replace existing entries of another kind
 * @param overwrite unpack even if everything exists
 * @param clean before unpacking, remove existing paths with the archive's top-level names
 * @param clean_parent before unpacking, remove the whole directory
 * @param user owner of the unpacked files
 * @param group group of the unpacked files
 * @param if_missing unpack only when this path is missing
 * @param trim_output list at most this many files in the changes
 * @param extract_perms false: a zip archive's modes are not kept; those of a tar archive are in any case
 * @param enforce_toplevel refuse an archive with more than one top-level entry
 * @param enforce_ownership_on set the owner of only this path
 * @param archive_format `tar` or `zip`; by default, guessed from the name
 * @param password the password of a zip archive
 * @param use_cmd_unzip has no effect: no program is needed
 * @param list_options has no effect: no program is needed to list an archive
 * @param use_etag compare the web server's ETag to decide whether the earlier download is current; then no hash is
 *   needed
 * @unknown ignored
 *
 * @example
 * /opt:
 *   archive.extracted:
 *     - source: https://example.com/app-1.2.tar.gz
 *     - source_hash: sha256=…
 *     - user: root
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the steps of Salt's archive.extracted, in its order
export const extracted = async (
  name: string,
  source: string | string[],
  {
    source_hash = null,
    source_hash_name = null,
    source_hash_update = false,
    skip_verify = false,
    keep_source: _keep = true,
    options = null,
    force = false,
    overwrite = false,
    clean = false,
    user = null,
    group = null,
    if_missing = null,
    trim_output = false,
    extract_perms = true,
    enforce_toplevel = true,
    enforce_ownership_on = null,
    archive_format = null,
    password = null,
    use_cmd_unzip: _unzip = null,
    skip_files_list_verify = false,
    keep: _keepToo = true,
    list_options: _list = null,
    clean_parent = false,
    use_etag = false,
  }: ExtractedOptions = {},
  // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: the steps of Salt's archive.extracted, in its order
): Promise<StateReturn> => {
  const path = expandUser(name).replace(/(.)\/+$/, '$1');
  const ret = newReturn(name);
  if (!isAbs(path)) return failed(ret, `${path} is not an absolute path`);
  if (exists(path) && !isDir(path)) return failed(ret, `${path} exists and is not a directory`);
  if (if_missing && linkExists(if_missing)) return { ...ret, comment: `Path ${if_missing} exists` };
  const problem =
    notThere(user, group) ||
    outside(path, enforce_ownership_on) ||
    contradiction({ clean, clean_parent, skip_files_list_verify, skip_verify });
  if (problem) return failed(ret, problem);
  const secret = password === null ? undefined : String(password);
  const scratch = makeTempFolder('tsalt-archive-');
  try {
    const chosen = Array.isArray(source)
      ? await chooseSource(source, source_hash, __env__.name)
      : { source, source_hash };
    const shown = redactUrl(chosen.source);
    const local = localPath(chosen.source);
    if (local !== null && !isFile(local))
      return failed(ret, `Source file '${local}' does not exist`);
    const format = archive_format?.toLowerCase() ?? guessFormat(chosen.source);
    if (format === 'rar' || (archive_format === null && /\.rar$/i.test(chosen.source)))
      return failed(ret, 'rar archives are not supported: pack them as tar or zip.');
    if (format !== 'tar' && format !== 'zip')
      return failed(
        ret,
        archive_format
          ? `Invalid archive_format '${archive_format}'. Either set it to a supported value (tar, zip) or remove this argument and the archive format will be guessed based on file extension.`
          : "Could not guess archive_format from the value of the 'source' argument. Please set this archive_format to one of the following: tar, zip",
      );
    if (format !== 'zip' && secret !== undefined)
      return failed(ret, "The 'password' argument is only supported for zip archives");
    const chosenParts = archiveOptions(options, format);
    const remembers = source_hash_update || skip_files_list_verify;
    const known = remembers ? unpackedSum(chosen.source, path) : undefined;
    const wanted =
      remembers && chosen.source_hash
        ? await sourceSum(chosen.source_hash, __env__.name, {
            name: path,
            source: chosen.source,
            sourceHashName: source_hash_name,
          })
        : undefined;
    if (skip_files_list_verify && known && wanted?.hsum === known.hsum)
      return {
        ...ret,
        comment: `Archive ${shown} existing source sum is the same as the expected one and skip_files_list_verify argument was set to True. Extraction is not needed`,
      };
    const file = await localCopy(chosen.source, join(scratch, `archive.${format}`), {
      name: path,
      saltenv: __env__.name,
      source_hash: chosen.source_hash,
      source_hash_name,
      skip_verify,
      use_etag,
    });

    const needsPassword =
      format === 'zip' &&
      secret === undefined &&
      (await withZip(file, async entries => entries.some(({ isEncrypted }) => isEncrypted)));
    if (needsPassword)
      return failed(
        ret,
        `Archive ${shown} is password-protected, but no password was specified. Please set the 'password' argument.`,
      );
    const members = await listArchive(file, format, { ...chosenParts, password: secret });
    const [unseen] = chosenParts.unseen();
    if (unseen !== undefined)
      return failed(ret, `The archive ${shown} has no member '${unseen}', which options names.`);
    const top = new Set(members.map(member => member.path.split('/')[0]));
    if (enforce_toplevel && isBomb(members))
      return failed(
        ret,
        `Archive does not have a single top-level directory. To allow this archive to be extracted, set 'enforce_toplevel' to False. To avoid a '${format}-bomb' it may also be advisable to set a top-level directory by adding it to the 'name' value (for example, setting 'name' to ${join(path, 'some_dir')} instead of ${path}/).`,
      );
    const wrong = inTheWay(path, members);
    const wrongPaths = `\n\n- ${wrong.map(nameOf).join('\n- ')}`;
    const wrongType = `The below paths (relative to ${path}/) exist, but are the incorrect type (file instead of directory, symlink instead of file, etc.).`;
    if (wrong.length > 0 && !force && !clean && !clean_parent)
      return failed(
        ret,
        `${wrongType} To proceed with extraction, set 'force' to True. Note that this will remove these paths before extracting.${wrongPaths}`,
      );
    const missing = members.filter(member => !linkExists(join(path, member.path)));
    const isOther =
      source_hash_update && known !== undefined && hashFile(file, known.hash_type) !== known.hsum;
    const needed = overwrite || wrong.length > 0 || missing.length > 0 || isOther;
    const why = isOther
      ? ', due to source_hash update'
      : missing.length > 0
        ? ', due to absence of one or more files/dirs'
        : '';
    const ownedWrongly = (): string[] =>
      wronglyOwned(path, members, { user, group }, enforce_ownership_on);
    const remember = (): void => {
      const hash_type = wanted?.hash_type ?? known?.hash_type ?? 'sha256';
      if (remembers && !__opts__.test)
        rememberSum(chosen.source, path, { hash_type, hsum: hashFile(file, hash_type) });
    };
    if (!needed) remember();
    if (!needed && ownedWrongly().length === 0)
      return { ...ret, comment: 'All files in archive are already present' };
    if (__opts__.test)
      return {
        ...ret,
        result: null,
        changes: needed
          ? { extracted_files: members.map(member => member.path) }
          : { 'updated ownership': true },
        comment:
          wrong.length > 0 && (clean || clean_parent)
            ? `${wrongType} Since the ${clean ? `'clean' option is enabled, the destination paths would be cleared and the archive would be extracted.${wrongPaths}` : "'clean_parent' option is enabled, the destination parent directory would be removed first and then re-created and the archive would be extracted"}`
            : needed
              ? `Archive ${shown} would be extracted to ${path}/${clean ? ', after cleaning destination path(s)' : ''}${why}`
              : 'All files in archive are already present. Ownership would be updated on one or more files/directories.',
      };
    if (needed) {
      const cleared = clean_parent
        ? [path]
        : [...new Set([...(clean ? top : []), ...wrong.map(member => member.path)])].map(each =>
            join(path, String(each)),
          );
      const removed = cleared.filter(linkExists);
      const wereDirs = removed.map(each => isDir(each));
      // Each path is checked again, because removing a folder also removes what is below it.
      for (const each of removed) if (linkExists(each)) await __salt__['file.remove'](each);
      if (removed.length > 0)
        ret.changes.removed = clean_parent
          ? `Directory ${path}/ was removed prior to the extraction`
          : removed.map((each, index) => (wereDirs[index] ? `${each}/` : each));
      const isNew = !isDir(path);
      const files: string[] = await __salt__['archive.extract']?.(file, path, {
        archive_format: format,
        options,
        extract_perms: extract_perms || format === 'tar',
        ...(secret === undefined ? {} : { password: secret }),
      });
      const limit = trim_output === true ? 100 : trim_output === false ? files.length : trim_output;
      if (isNew) ret.changes.directories_created = [`${path}/`];
      // A tar lists folders without a trailing slash, a zip with it.
      const names = format === 'tar' ? files.map(each => each.replace(/\/$/, '')) : files;
      ret.changes.extracted_files = names.slice(0, limit);
      ret.comment = `${shown} extracted to ${path}/${why}`;
      if (files.length > limit) ret.comment += `. Output was trimmed to ${limit} number of lines`;
      remember();
    } else ret.comment = 'All files in archive are already present';
    setOwners(ret, ownedWrongly(), { user, group });
    return ret;
  } catch (error) {
    return failed(ret, messageOf(error));
  } finally {
    removeTemp(scratch);
  }
};

/** If both are missing, Salt reports only the user. */
const notThere = (user: AccountName, group: AccountName): string =>
  (missingAccounts(user, null) || missingAccounts(null, group))
    .trim()
    .replace('is not available', 'does not exist');

/** Returns the local path of a source that is a file on this host, else null. */
const localPath = (source: string): string | null =>
  /^(file:\/\/|\/|~)/i.test(source) ? expandUser(source.replace(/^file:\/\//i, '')) : null;

const nameOf = ({ path, kind }: Member): string => (kind === 'dir' ? `${path}/` : path);

const outside = (path: string, owned: string | null): string =>
  owned === null || owned === path || resolve(owned).startsWith(`${path.replace(/\/$/, '')}/`)
    ? ''
    : `Value for 'enforce_ownership_on' must be within ${path}/`;

const contradiction = (given: {
  clean: boolean;
  clean_parent: boolean;
  skip_files_list_verify: boolean;
  skip_verify: boolean;
}): string => {
  if (given.clean && given.clean_parent)
    return "Only one of 'clean' and 'clean_parent' can be set to True";
  if (given.skip_files_list_verify && given.skip_verify)
    return 'Only one of "skip_files_list_verify" and "skip_verify" can be set to True';
  return '';
};
