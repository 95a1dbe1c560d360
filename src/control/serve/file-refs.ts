import { posix } from 'node:path';
import { saltRequirementsNamed } from '../../data/requirements-files.ts';
import { choosesOnlyNames, type Ranges } from '../../data/taint.ts';
import { isNormal } from '../../fileserver/root-paths.ts';
import { parseSaltUrl } from '../../fileserver/url.ts';
import type { LowChunk } from '../../protocol/low.ts';
import type { Plain } from '../../protocol/plain.ts';
import { requisiteInKeywords, requisiteKeywords } from '../../protocol/state-keywords.ts';

/**
 * The files that a host may fetch. A host is not trusted. It gets the `salt://` paths that its jobs
 * name, files below folders that they name, and the files that pip's requirements among them name:
 * each in the saltenvs of the state or call that names it, and in those of `extra_filerefs`. Any
 * other request ends its run. A path that contains host-supplied data names a file only if that
 * data chooses a name within one segment.
 */
export class FileRefs {
  readonly #taintOf: (text: string) => Ranges | undefined;
  /** Paths with the saltenvs in which they are named. */
  readonly #named = new Map<string, Set<string>>();
  /** Files of pip's requirements: the files that they name belong to the job too. */
  readonly #requirements = new Set<string>();
  /**
   * Paths that do not belong to a state or call: they may be fetched from each saltenv of the run.
   */
  readonly #everywhere = new Set<string>();
  readonly #envs = new Set(['base']);
  /** The last URL that was parsed. */
  #last: ReadUrl | undefined;

  /** @param taintOf returns the parts of a string that the host sent; by default none */
  constructor(taintOf: (text: string) => Ranges | undefined = () => undefined) {
    this.#taintOf = taintOf;
  }

  /**
   * Allows the paths in these states, each in its saltenvs.
   *
   * @param saltenv the run's
   * @param isUsers whether a user's module may provide a state module: then all of its arguments
   *   may name files, as those of a call
   */
  addChunks(
    chunks: readonly LowChunk[],
    saltenv = 'base',
    isUsers: (state: string) => boolean = () => false,
  ): void {
    const usual = nothingFound(saltenv);
    this.#allow(usual);
    // Many states have the same few arguments.
    const simple = new Map<string, boolean>();
    const isSimpleKey = (key: string): boolean => {
      const known = simple.get(key) ?? isSimple(key);
      simple.set(key, known);
      return known;
    };
    for (const chunk of chunks) {
      const isCall = chunk.state === 'module' || isUsers(chunk.state);
      let found: Found | undefined;
      for (const key of Object.keys(chunk)) {
        const item = chunk[key] ?? null;
        if (isNoFile(item) && (isSimpleKey(key) || isUsualEnv(key, item, usual))) continue;
        found ??= nothingFound(saltenv);
        this.#collectEntry(key, item, { ...found, from: isCall ? 'source' : roleOf(key) });
      }
      if (found) this.#allow(found);
    }
  }

  /** Allows every `salt://` path in these arguments, in their saltenvs, in `base` and in the run's. */
  add(value: Plain, saltenv = 'base'): void {
    const found = nothingFound(saltenv);
    this.#collect(value, found);
    this.#allow(found);
  }

  #allow(found: Found): void {
    for (const env of found.envs) this.#envs.add(env);
    for (const url of found.urls) this.#name(url, found.envs);
  }

  /** Allows these paths in each saltenv of the run: `extra_filerefs`. */
  addExtra(urls: readonly string[]): void {
    for (const url of urls) {
      const path = url.startsWith('salt://') ? cleanPath(url) : undefined;
      const { saltenv } = parseSaltUrl(url);
      if (path === undefined) continue;
      if (saltenv === undefined) this.#everywhere.add(path);
      else this.#name(url, new Set());
    }
  }

  /** Allows a path in the source of a user's module; never all of the roots. */
  addSource = (url: string): void => {
    if (cleanPath(url)) this.addExtra([url]);
  };

  #collect(value: Plain, found: Found): void {
    if (typeof value === 'string') this.#collectText(value, found);
    else if (Array.isArray(value)) this.#collectList(value, found);
    else if (typeof value === 'object' && value !== null)
      for (const [key, item] of Object.entries(value)) this.#collectEntry(key, item, found);
  }

  #collectEntry(key: string, item: Plain, found: Found): void {
    this.#collectText(key, found);
    if (isEnvKey(key) && typeof item === 'string' && !this.#taintOf(item)) found.envs.add(item);
    this.#collect(item, found);
    const names = key === 'requirements' ? [item].flat().join(' ') : '';
    if (names === '' || this.#taintOf(names)) return;
    for (const [url] of names.matchAll(saltUrls)) {
      found.urls.add(url);
      this.#requirements.add(cleanPath(url) ?? '');
    }
  }

  #collectText(value: string, { urls, from }: Found): void {
    if (isNoFile(value)) return;
    const isUrl = value.startsWith('salt://');
    const ranges = this.#taintOf(value);
    if (isUrl) {
      if (from === 'data') return;
      if (!ranges || (from === 'source' && choosesOnlyNames(value, ranges))) urls.add(value);
      // In `cmd.script`, arguments follow the source.
      const [source = ''] = value.split(/\s/);
      if (source !== value && !ranges) urls.add(source);
    }
    // A slot calls a function with its arguments in one text.
    else if (!ranges) for (const [url] of value.matchAll(slotUrls)) urls.add(url);
  }

  /**
   * After a path without a name, as in `cp.cache_file salt://x dev`, any argument may be its
   * saltenv.
   */
  #collectList(items: readonly Plain[], found: Found): void {
    for (const item of items) this.#collect(item, found);
    if (!items.some(item => typeof item === 'string' && item.startsWith('salt://'))) return;
    for (const item of items)
      if (typeof item === 'string' && /^[\w.-]+$/.test(item) && !this.#taintOf(item))
        found.envs.add(item);
  }

  /** Allows the files that a file names, if it is one of pip's requirements. */
  follow(path: string, saltenv: string, read: () => string): void {
    if (this.#requirements.size === 0) return;
    if (!this.#requirements.has(cleanPath(path) ?? '')) return;
    const url = `salt://${path.replace(/^salt:\/\//, '')}`;
    for (const child of saltRequirementsNamed(url, read())) {
      const below = cleanPath(child);
      if (below === undefined) continue;
      this.#name(child, new Set([envOf(path, saltenv)]));
      this.#requirements.add(below);
    }
  }

  /** Allows a path in the saltenv that it names itself, or else in these. */
  #name(url: string, envs: ReadonlySet<string>): void {
    const { path, saltenv } = this.#read(url);
    if (path === undefined) return;
    if (saltenv !== undefined) this.#envs.add(saltenv);
    const known = this.#named.get(path) ?? new Set();
    for (const env of saltenv === undefined ? envs : [saltenv]) known.add(env);
    this.#named.set(path, known);
  }

  /** Parses a URL: most states name the same ones in a row. */
  #read(url: string): ReadUrl {
    if (this.#last?.url !== url)
      this.#last = { url, path: cleanPath(url), saltenv: parseSaltUrl(url).saltenv };
    return this.#last;
  }

  /** Lists what the job names: each path in each of its saltenvs. */
  named(): { readonly path: string; readonly saltenv: string }[] {
    const paths = new Map([...this.#named].map(([path, envs]) => [path, new Set(envs)]));
    for (const path of this.#everywhere)
      paths.set(path, new Set([...(paths.get(path) ?? []), ...this.#envs]));
    return [...paths].flatMap(([path, envs]) => [...envs].map(saltenv => ({ path, saltenv })));
  }

  /** Whether the job names anything in this environment. */
  allowsEnv(saltenv: string): boolean {
    return this.#envs.has(saltenv);
  }

  /** Whether the job names this file, or a folder above it, in this environment. */
  allows(path: string, saltenv: string): boolean {
    const wanted = cleanPath(path);
    const env = envOf(path, saltenv);
    if (wanted === undefined || !this.#envs.has(env)) return false;
    if (this.#names(wanted, env) || this.#names('', env)) return true;
    for (let at = wanted.lastIndexOf('/'); at > 0; at = wanted.lastIndexOf('/', at - 1))
      if (this.#names(wanted.slice(0, at), env)) return true;
    return false;
  }

  #names(path: string, env: string): boolean {
    return this.#everywhere.has(path) || this.#named.get(path)?.has(env) === true;
  }
}

/** A URL with the path and the saltenv that it names. */
type ReadUrl = {
  readonly url: string;
  readonly path: string | undefined;
  readonly saltenv: string | undefined;
};

/** The paths of a state or call, and the saltenvs that it names. */
type Found = {
  readonly urls: Set<string>;
  readonly envs: Set<string>;
  /** The role of the argument that is being searched. */
  readonly from: Role;
};

/**
 * Which files an argument may name. A source: any file, also one whose name contains host-supplied
 * data. Data: none. Any other argument: a file whose path the user wrote in full.
 */
type Role = 'source' | 'data' | 'other';

const nothingFound = (saltenv: string): Found => ({
  urls: new Set(),
  envs: new Set(['base', saltenv]),
  from: 'source',
});

/** Arguments of built-in states that name sources, and conditions, which call functions. */
const sources: ReadonlySet<string> = new Set([
  ...['name', '__id__', 'source', 'sources', 'source_hash', 'signature', 'requirements'],
  ...['identity', 'key_url', 'load', 'query_file', 'onlyif', 'unless', 'check_cmd'],
]);

/** Arguments of built-in states whose strings are written, shown or compared, and never fetched. */
const data: ReadonlySet<string> = new Set<string>([
  ...requisiteKeywords,
  ...requisiteInKeywords,
  ...['comment', 'content', 'contents', 'context', 'dataset', 'defaults', 'text'],
]);

/** Whether a value names no file, wherever it is: most arguments of most states. */
const isNoFile = (value: Plain): boolean =>
  typeof value === 'string'
    ? !value.startsWith('salt://') && !value.startsWith('__slot__:')
    : typeof value !== 'object' || value === null;

/** Whether an argument with this name names files by its value alone. */
const isSimple = (key: string): boolean =>
  isNoFile(key) && !isEnvKey(key) && key !== 'requirements';

const isEnvKey = (key: string): boolean => key.includes('saltenv') || key.includes('__env__');

/** Whether an argument names a saltenv in which all files of the run may be named. */
const isUsualEnv = (key: string, item: Plain, { envs }: Found): boolean =>
  typeof item === 'string' && envs.has(item) && isEnvKey(key) && isNoFile(key);

const roleOf = (argument: string): Role =>
  sources.has(argument) ? 'source' : data.has(argument) ? 'data' : 'other';

/** As `saltUrls`, up to the end of the argument. */
const slotUrls = /salt:\/\/[^\s'"<>,;()]+/g;

const saltUrls = /salt:\/\/[^\s'"<>,;]+/g;

/** Normalizes a path inside the roots; undefined if it leads out of them. */
export const cleanPath = (path: string): string | undefined => {
  const bare = parseSaltUrl(path).path;
  if (isNormal(bare)) return bare;
  if (bare.includes('\0') || posix.isAbsolute(bare)) return undefined;
  const normal = posix.normalize(bare).replace(/\/$/, '');
  return normal === '..' || normal.startsWith('../') ? undefined : normal === '.' ? '' : normal;
};

/** Returns the saltenv that a path names itself, or else this one. */
export const envOf = (path: string, saltenv: string): string =>
  parseSaltUrl(path).saltenv ?? saltenv;
