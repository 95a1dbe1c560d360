import { dirname, join } from 'node:path';
import { cacheDir, cachePath } from '../../../_shared/files/cache-dir.ts';
import { expandUser, isDir, isFile } from '../../../_shared/files/file-paths.ts';
import { copyFileSync, mkdirSync, readdirSync } from '../../../_shared/safe-fs/fs.ts';
import { controlList } from '../../../_shared/sources/control-files.ts';
import { SourceError } from '../../../_shared/sources/file-source.ts';
import { parseSource } from '../../../_shared/sources/source-url.ts';
import { notDone } from '../../../_shared/states/not-done.ts';
import { __opts__, type Plain, type PlainDict } from '../../../api.ts';
import { fetchTo } from '../../fetch-to.ts';
import { isIncluded } from '../../glob-match.ts';
import { cache_file } from './files.ts';

type EnvOptions = { saltenv?: string | null };

/**
 * Caches files on this host. Returns their paths, and false for each that does not exist.
 *
 * @param paths `salt://…`: a list, or a string separated by commas
 * @param saltenv their saltenv
 * @example tsalt-ssh '*' cp.cache_files salt://path/to/one,salt://path/to/two
 */
export const cache_files = async (
  paths: string | string[],
  saltenv: string | null = null,
): Promise<(string | false)[]> => {
  const list = Array.isArray(paths) ? paths : paths.split(',').map(path => path.trim());
  const kept: (string | false)[] = [];
  for (const path of list) kept.push(await cache_file(path, saltenv));
  return kept;
};

/**
 * Caches the files of a folder on this host and returns their paths.
 *
 * @param path `salt://…`
 * @param saltenv its saltenv
 * @param include_pat only files whose path matches this glob
 * @param exclude_pat no files whose path matches this glob
 * @param include_empty empty folders, too
 * @example tsalt-ssh '*' cp.cache_dir salt://path/to/dir include_pat='*.conf'
 */
export const cache_dir = async (
  path: string,
  saltenv: string | null = null,
  {
    include_empty = false,
    include_pat = null,
    exclude_pat = null,
  }: { include_empty?: boolean; include_pat?: string | null; exclude_pat?: string | null } = {},
): Promise<string[]> => {
  const url = parseSource(path);
  const folder = url.path.replace(/\/+$/, '');
  const env = url.saltenv ?? saltenv ?? __opts__.saltenv;
  const prefix = folder === '' ? '' : `${folder}/`;
  const wanted = (await controlList(folder, env)).filter(file =>
    isIncluded(file, include_pat, exclude_pat),
  );
  const kept = await cache_files(
    wanted.map(file => `salt://${prefix}${file}`),
    env,
  );
  if (include_empty)
    mkdirSync(cachePath(`salt://${folder}`, env), { recursive: true, mode: 0o700 });
  return kept.filter(one => one !== false);
};

/**
 * Caches all files of an environment on this host and returns their paths.
 *
 * @param saltenv the environment
 */
export const cache_master = async (saltenv: string | null = null): Promise<string[]> =>
  cache_dir('salt://', saltenv);

/**
 * Keeps a copy of a file of this host among the files that came from the control node.
 *
 * @param path the file
 * @example tsalt-ssh '*' cp.cache_local_file /etc/hosts
 */
export const cache_local_file = async (path: string): Promise<string> => {
  const full = expandUser(path);
  if (!isFile(full)) return '';
  const place = join(cacheDir(), 'localfiles', full.replace(/^\/+/, ''));
  mkdirSync(dirname(place), { recursive: true, mode: 0o700 });
  copyFileSync(full, place);
  return place;
};

/**
 * Returns the path where the copy of a file would be cached.
 *
 * @param url `salt://…` or `http(s)://…`
 * @param saltenv its saltenv
 */
export const cache_dest = async (url: string, saltenv: string | null = null): Promise<string> =>
  cachePath(url, saltenv ?? __opts__.saltenv);

/**
 * Returns the paths of an environment's cached files on this host, and those of
 * `cp.cache_local_file`.
 *
 * @param saltenv the environment
 * @example tsalt-ssh '*' cp.list_minion
 */
export const list_minion = async (saltenv: string | null = null): Promise<string[]> => {
  const folders = [
    cachePath('salt://', saltenv ?? __opts__.saltenv),
    join(cacheDir(), 'localfiles'),
  ];
  return folders
    .filter(isDir)
    .flatMap(folder =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(name => join(folder, name)),
    )
    .filter(isFile)
    .sort();
};

/**
 * Renders a template from the file server to a file on this host. Returns its path, or '' if the
 * template does not exist.
 *
 * @param path `salt://…`
 * @param dest the file to write
 * @param template the engine
 * @param saltenv its saltenv
 * @param makedirs make missing directories above
 * @param context variables for the template; they win over other arguments, which are variables, too
 * @example tsalt-ssh '*' cp.get_template salt://vimrc.j2 /etc/vimrc
 */
export const get_template = async (
  path: string,
  dest: string,
  template = 'jinja',
  {
    saltenv = null,
    makedirs = false,
    context = null,
    ...variables
  }: EnvOptions & {
    makedirs?: boolean;
    context?: PlainDict | null;
    [variable: string]: Plain | undefined;
  } = {},
): Promise<string> => {
  const given = { ...(variables as PlainDict), ...context };
  const env = saltenv ?? __opts__.saltenv;
  try {
    return await fetchTo(path, dest, { saltenv: env, makedirs, template, context: given });
  } catch (error) {
    if (error instanceof SourceError && error.message.includes('not found in saltenv')) return '';
    throw error;
  }
};

/** Not supported: it is what `salt-cp` calls; `cp.get_file` brings a file of the file roots. */
export const recv = async (files: PlainDict, dest: string): Promise<never> =>
  notDone('cp.recv', 'it is what salt-cp calls; cp.get_file brings a file', files, dest);

/** Not supported: see `cp.recv`. */
export const recv_chunked = async (dest: string, chunk: string): Promise<never> =>
  notDone('cp.recv_chunked', 'it is what salt-cp calls; cp.get_file brings a file', dest, chunk);
