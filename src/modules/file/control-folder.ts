import { controlList, controlListForUse } from '../_shared/sources/control-files.ts';
import { parseSource } from '../_shared/sources/source-url.ts';
import { getContext } from '../api.ts';

/** A folder of the file server: paths are relative to it. */
export type ControlFolder = {
  /** Its path and saltenv on the control node. */
  readonly path: string;
  readonly saltenv: string;
  /** The folder's URL, and the query that follows a file's name in URLs. */
  readonly source: string;
  readonly query: string;
  readonly files: string[];
  /** All directories, if requested. */
  readonly dirs: string[];
  /** Symlinks with their targets, if requested. */
  readonly symlinks: Readonly<Record<string, string>>;
};

export type ListedFolder = Pick<ControlFolder, 'path' | 'saltenv'>;

/** Returns the first of these folders that exists. */
export const controlFolder = async (
  sources: readonly string[],
  saltenv: string,
  wanted: {
    dirs: boolean;
    symlinks: boolean;
    hashes: boolean;
    /** Is called with names of files as they arrive, only with `hashes`. */
    onPiece?: ((folder: ListedFolder, names: readonly string[]) => void) | undefined;
  },
): Promise<ControlFolder | undefined> => {
  for (const source of sources) {
    const url = parseSource(source);
    const env = url.saltenv ?? saltenv;
    const files = wanted.hashes
      ? await controlListForUse(url.path, env, names =>
          wanted.onPiece?.({ path: url.path, saltenv: env }, names),
        )
      : await controlList(url.path, env);
    const dirs = wanted.dirs
      ? below(url.path, await ask('cp.list_master_dirs', env, url.path))
      : [];
    if (files.length === 0 && dirs.length === 0) continue;
    const links = wanted.symlinks ? await ask('cp.list_master_symlinks', env, url.path) : {};
    const symlinks = Object.fromEntries(
      Object.entries(links as Record<string, string>).flatMap(([path, target]) =>
        below(url.path, [path]).map(relative => [relative, target]),
      ),
    );
    return {
      path: url.path,
      saltenv: env,
      source: `salt://${url.path}`,
      query: url.saltenv ? `?saltenv=${url.saltenv}` : '',
      files,
      dirs,
      symlinks,
    };
  }
  return undefined;
};

const ask = async (fun: string, saltenv: string, prefix: string): Promise<unknown> =>
  (await getContext().control?.request('control.call', {
    fun,
    args: [saltenv, prefix],
    kwargs: {},
  })) ?? [];

const below = (folder: string, paths: unknown): string[] => {
  const prefix = folder === '' ? '' : `${folder.replace(/\/+$/, '')}/`;
  return (Array.isArray(paths) ? paths : [])
    .map(String)
    .filter(path => path.startsWith(prefix) && path !== prefix)
    .map(path => path.slice(prefix.length));
};
