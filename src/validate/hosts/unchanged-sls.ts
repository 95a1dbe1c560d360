import { realpathSync } from 'node:fs';
import { sep } from 'node:path';
import { slsFile } from '../../control/facts/sls-loader.ts';
import type { RenderedSls } from '../../data/sls.ts';
import type { Dict } from '../../data/values/value.ts';
import type { FileRoots } from '../../fileserver/file-roots.ts';
import { deepFingerprint } from '../../render/share/fingerprint.ts';
import type { CheckedText } from './check-trace.ts';

/** A rendered SLS of a host. */
export type KnownSls = {
  readonly text: CheckedText;
  readonly rendered: RenderedSls;
};

/** Everything but files that the templates of a host can read. */
export type TemplateFacts = readonly Dict[];

/**
 * The rendered SLS of all hosts, for a check that is repeated after some files were saved. An SLS is
 * kept until its file or one that it imported is saved, or the host gets another pillar, other
 * grains or options.
 */
export class UnchangedSls {
  readonly #hosts = new Map<string, { readonly facts: string; readonly known: KnownFiles }>();
  /** The real paths of top files, which are read by each check. */
  readonly #tops = new Set<string>();

  /**
   * Forgets the SLS that may be different now.
   *
   * @param saved the files that were saved
   * @param roots the folders that templates read
   */
  forget(saved: readonly string[], roots: readonly string[]): void {
    const folders = [...roots, ...roots.map(realPath)];
    const paths = saved.map(path => ({ path, real: realPath(path) }));
    const isInside = (path: string): boolean =>
      folders.some(folder => folder !== undefined && path.startsWith(folder + sep));
    const inRoots = paths.filter(({ path, real = path }) => isInside(path) || isInside(real));
    const all = [...this.#hosts.values()].map(({ known }) => known);
    const isKnown = (path: string | undefined): boolean =>
      path !== undefined && (this.#tops.has(path) || all.some(known => known.has(path)));
    // A new file, or a removed one, may change which file is found.
    if (!inRoots.every(({ real }) => isKnown(real))) this.#hosts.clear();
    // A file may have become a link.
    for (const { path, real } of inRoots)
      for (const known of all) {
        known.delete(path);
        known.delete(real);
      }
  }

  /** The SLS of one host. */
  of(host: string, facts: TemplateFacts, files: FileRoots): HostSls {
    const fingerprint = deepFingerprint([...facts]);
    const before = this.#hosts.get(host);
    const known = before?.facts === fingerprint ? before.known : new KnownFiles();
    this.#hosts.set(host, { facts: fingerprint, known });
    return new HostSls(known, files, this.#tops);
  }
}

/** SLS by what names them, and by the files that they were made from. */
class KnownFiles {
  readonly #byPlace = new Map<string, KnownSls>();
  readonly #byPath = new Map<string, Set<string>>();

  get(place: string): KnownSls | undefined {
    return this.#byPlace.get(place);
  }

  has(path: string | undefined): boolean {
    return path !== undefined && this.#byPath.has(path);
  }

  set(place: string, known: KnownSls, paths: readonly string[]): void {
    this.#byPlace.set(place, known);
    for (const path of paths) {
      const places = this.#byPath.get(path) ?? new Set();
      this.#byPath.set(path, places.add(place));
    }
  }

  /** Forgets the SLS that a file is a part of. */
  delete(path: string | undefined): void {
    for (const place of this.#byPath.get(path ?? '') ?? []) this.#byPlace.delete(place);
  }
}

class HostSls {
  readonly #known: KnownFiles;
  readonly #files: FileRoots;
  readonly #tops: Set<string>;

  constructor(known: KnownFiles, files: FileRoots, tops: Set<string>) {
    this.#known = known;
    this.#files = files;
    this.#tops = tops;
  }

  /** Returns an SLS that is as it was in the last check. */
  find(place: string): KnownSls | undefined {
    return this.#known.get(place);
  }

  /** Keeps an SLS if all that its templates read is known. */
  add(place: string, known: KnownSls): void {
    const paths = this.#pathsOf(known);
    if (paths) this.#known.set(place, known, paths);
  }

  /** Notes a file that each check reads. */
  addTop(path: string, saltenv: string): void {
    const found = this.#files.find(path, saltenv);
    const real = found && realPath(found.path);
    if (real !== undefined) this.#tops.add(real);
  }

  #pathsOf({ text: { reads }, rendered: { sls, saltenv } }: KnownSls): string[] | undefined {
    const own = slsFile(this.#files, sls, saltenv);
    const files = own === undefined ? [] : [{ path: own, saltenv }];
    for (const one of reads) {
      if (one === undefined) return undefined;
      files.push(...one.roots.imports);
    }
    const found = files.map(({ path, saltenv }) => this.#files.find(path, saltenv)?.path);
    const paths = [...found, ...found.map(path => path && realPath(path))];
    return paths.length > 0 && paths.every(path => path !== undefined) ? paths : undefined;
  }
}

const realPath = (path: string): string | undefined => {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
};
