/**
 * Copies files from the file roots and from the web to the host.
 *
 * @platform all
 */

import { basename, dirname, join } from 'node:path';
import { cachePath } from '../../../_shared/files/cache-dir.ts';
import { contentText } from '../../../_shared/files/file-content.ts';
import { hashOf } from '../../../_shared/files/file-hash.ts';
import { modeBits } from '../../../_shared/files/file-mode.ts';
import { exists, expandUser, isFile } from '../../../_shared/files/file-paths.ts';
import { constants, mkdirSync, readFileSync } from '../../../_shared/safe-fs/fs.ts';
import {
  controlFile,
  controlList,
  controlListForUse,
  expectFiles,
} from '../../../_shared/sources/control-files.ts';
import { findSource, SourceError } from '../../../_shared/sources/file-source.ts';
import { sourceSum } from '../../../_shared/sources/source-hash.ts';
import { parseSource, redactUrl } from '../../../_shared/sources/source-url.ts';
import { decodeForDiff } from '../../../_shared/text/text-diff.ts';
import { __opts__, getContext, log } from '../../../api.ts';
import { fetchTo } from '../../fetch-to.ts';

type EnvOptions = {
  /** its saltenv */
  saltenv?: string | null;
};

const envOf = (saltenv: string | null | undefined): string => saltenv ?? __opts__.saltenv;

/**
 * Copies a file from the file server to this host. Returns its path, or '' if the file does not
 * exist.
 *
 * @param path `salt://…`
 * @param dest the file to write, or a directory
 * @param makedirs make missing directories above
 * @param template render it
 * @param gzip has no effect: transfers are always compressed
 *
 * @example tsalt-ssh '*' cp.get_file salt://vimrc /etc/vimrc
 */
export const get_file = async (
  path: string,
  dest: string,
  {
    saltenv = null,
    makedirs = false,
    template = null,
    gzip: _gzip = null,
  }: EnvOptions & {
    makedirs?: boolean;
    template?: string | null;
    gzip?: number | null;
  } = {},
): Promise<string> => {
  const place = await get_url(path, dest, { saltenv, makedirs, template });
  return place === false ? '' : place;
};

/**
 * Copies a file from any supported source to this host. Returns its path, or its text if `dest` is
 * None; false if the file server does not have it. As in Salt, the path is returned even if a local
 * file does not exist.
 *
 * @param path `salt://`, `http(s)://`, `file://` or a path
 * @param dest the file to write, or a directory
 * @param saltenv saltenv of a `salt://` URL
 * @param makedirs make missing directories above
 * @param source_hash hash it must have
 * @param template render it
 *
 * @example tsalt-ssh '*' cp.get_url https://example.com/index.html /tmp/index.html
 */
export const get_url = async (
  path: string,
  dest: string | null = '',
  {
    saltenv = null,
    makedirs = false,
    source_hash = null,
    template = null,
  }: EnvOptions & {
    makedirs?: boolean;
    source_hash?: string | null;
    template?: string | null;
  } = {},
): Promise<string | false> => {
  const options = { source_hash, template, skip_verify: !source_hash, saltenv: envOf(saltenv) };
  const local = parseSource(path);
  // Like Salt, does not check whether a local file exists; callers check the returned path.
  if (local.scheme === 'file' && dest !== null && !exists(local.path)) return local.path;
  try {
    if (dest === null)
      return contentText(await (await findSource(path, { ...options, name: path })).content());
    return await fetchTo(path, dest, { ...options, makedirs });
  } catch (error) {
    if (error instanceof SourceError && error.message.includes('not found in saltenv'))
      return false;
    throw error;
  }
};

/**
 * Returns the text of a file on the file server; false if it does not exist.
 *
 * @param path `salt://…`
 * @example tsalt-ssh '*' cp.get_file_str salt://my/file
 */
export const get_file_str = async (
  path: string,
  { saltenv = null }: EnvOptions = {},
): Promise<string | false> => {
  const url = parseSource(path);
  if (url.scheme !== 'salt')
    return isFile(url.path) ? decodeForDiff(readFileSync(url.path)) : false;
  const file = await controlFile(url.path, url.saltenv ?? envOf(saltenv));
  return file ? contentText(await file.content()) : false;
};

/**
 * Copies a folder from the file server to this host and returns its files.
 *
 * @param path `salt://…`
 * @param dest the directory to put the folder in
 * @param template render the files
 * @param gzip has no effect: transfers are always compressed
 *
 * @example tsalt-ssh '*' cp.get_dir salt://path/to/dir /minion/dest
 */
export const get_dir = async (
  path: string,
  dest: string,
  {
    saltenv = null,
    template = null,
    gzip: _gzip = null,
  }: EnvOptions & { template?: string | null; gzip?: number | null } = {},
): Promise<string[]> => {
  const url = parseSource(path.replace(/\/+$/, ''));
  const env = url.saltenv ?? envOf(saltenv);
  const files = template
    ? await controlList(url.path, env)
    : await controlListForUse(url.path, env);
  const end = expectFiles(
    template ? [] : files.map(file => ({ path: `${url.path}/${file}`, saltenv: env })),
  );
  const done: string[] = [];
  for (const file of files) {
    const place = join(expandUser(dest), basename(url.path), file);
    done.push(
      await get_file(`salt://${url.path}/${file}`, place, {
        saltenv: url.saltenv ?? saltenv,
        makedirs: true,
        template,
      }),
    );
  }
  end();
  return done;
};

/**
 * Caches a file on this host. Returns its path, or false if the file does not exist.
 *
 * @param path `salt://`, `http(s)://` or a path
 * @param saltenv saltenv of a `salt://` URL
 * @param source_hash hash it must have
 * @param verify_ssl false: accept any certificate of a web server; a `source_hash` is still checked
 * @param use_etag compare the web server's ETag to decide whether the copy is current
 *
 * @example tsalt-ssh '*' cp.cache_file salt://path/to/file
 */
export const cache_file = async (
  path: string,
  saltenv: string | null = null,
  {
    source_hash = null,
    verify_ssl = true,
    use_etag = false,
  }: { source_hash?: string | null; verify_ssl?: boolean; use_etag?: boolean } = {},
): Promise<string | false> => {
  const url = parseSource(path);
  if (url.scheme === 'file') return isFile(url.path) ? url.path : false;
  const place = cachePath(path, envOf(saltenv));
  mkdirSync(dirname(place), { recursive: true, mode: 0o700 });
  if (url.scheme === 'salt') {
    const have = isFile(place) ? await hashOf(place) : undefined;
    const file = await controlFile(url.path, url.saltenv ?? envOf(saltenv), {
      have: async () => have,
      near: place,
    });
    if (!file) return false;
    if (file.sha256 !== have) (await file.content()).place(place, { mode: 0o600 });
    return place;
  }
  if (source_hash && isFile(place)) {
    const wanted = await sourceSum(source_hash, envOf(saltenv), {
      source: path,
      verify: verify_ssl,
    });
    if ((await hashOf(place, wanted.hash_type)) === wanted.hsum) return place;
  }
  if (!verify_ssl && /^https:/i.test(path))
    log.warning(`cp.cache_file takes any certificate for ${redactUrl(path)}: verify_ssl is False.`);
  const found = await findSource(path, {
    source_hash,
    skip_verify: !source_hash,
    saltenv: envOf(saltenv),
    verify_ssl,
    use_etag,
    name: place,
    near: place,
  });
  (await found.content()).place(place, { mode: 0o600 });
  return place;
};

/**
 * Returns the path of a file's cached copy on this host; '' if there is none.
 *
 * @param path `salt://`, `http(s)://`
 * @param saltenv saltenv of a `salt://` URL
 *
 * @example tsalt-ssh '*' cp.is_cached salt://path/to/file
 */
export const is_cached = async (path: string, saltenv: string | null = null): Promise<string> => {
  const place = cachePath(path, envOf(saltenv));
  return isFile(place) ? place : '';
};

/**
 * Returns the hash of a file on the file server or on this host; empty if it does not exist.
 *
 * @param path `salt://…` or a path
 * @param saltenv its saltenv
 *
 * @example tsalt-ssh '*' cp.hash_file salt://path/to/file
 */
export const hash_file = async (
  path: string,
  saltenv: string | null = null,
): Promise<{ hsum: string; hash_type: string } | Record<string, never> | ''> => {
  const url = parseSource(path);
  if (url.scheme === 'file')
    return isFile(url.path) ? { hsum: await hashOf(url.path), hash_type: 'sha256' } : {};
  const file = await controlFile(url.path, url.saltenv ?? envOf(saltenv), { peek: true });
  return file ? { hsum: file.sha256, hash_type: 'sha256' } : '';
};

/**
 * Returns the mode of a file on the file server, as octal digits; null if it is unknown.
 *
 * @param path `salt://…`
 * @param octal false: as the number `st_mode`, with the kind of file in it
 *
 * @example tsalt-ssh '*' cp.stat_file salt://path/to/file
 */
export const stat_file = async (
  path: string,
  { saltenv = null, octal = true }: EnvOptions & { octal?: boolean } = {},
): Promise<string | number | null> => {
  const url = parseSource(path);
  if (url.scheme !== 'salt' || url.path === '') return null;
  const file = await controlFile(url.path, url.saltenv ?? envOf(saltenv), { peek: true });
  if (file?.mode === undefined) return null;
  const bits = modeBits(file.mode.toString(8)) ?? 0;
  return octal ? bits.toString(8).padStart(4, '0') : constants.S_IFREG | bits;
};

/**
 * Returns the files on the file server, optionally only those whose paths begin with `prefix`. On a
 * host, only the files that its job contains are known.
 *
 * @param saltenv the saltenv
 * @param prefix how the paths begin
 *
 * @example tsalt-ssh '*' cp.list_master
 */
export const list_master = async (saltenv: string | null = null, prefix = ''): Promise<string[]> =>
  onControl('cp.list_master', envOf(saltenv), prefix);

/**
 * Returns the folders on the file server.
 *
 * @param saltenv the saltenv
 * @param prefix only below this folder
 *
 * @example tsalt-ssh '*' cp.list_master_dirs
 */
export const list_master_dirs = async (
  saltenv: string | null = null,
  prefix = '',
): Promise<string[]> => onControl('cp.list_master_dirs', envOf(saltenv), prefix);

/**
 * Returns the SLS names on the file server.
 *
 * @param saltenv the saltenv
 *
 * @example tsalt-ssh '*' cp.list_states
 */
export const list_states = async (saltenv: string | null = null): Promise<string[]> =>
  onControl('cp.list_states', envOf(saltenv));

const onControl = async (fun: string, ...args: string[]): Promise<string[]> =>
  (await getContext().control?.request<string[]>('control.call', { fun, args, kwargs: {} })) ?? [];
