import { readFileSync, statSync } from 'node:fs';
import { basename, relative, sep } from 'node:path';
import type { Config } from '../config/config.ts';
import type { Request } from '../config/request.ts';
import { knownModules } from '../control/prepare/known-modules.ts';
import { functionsOf } from '../data/signatures/module-docs.ts';
import { FileRoots, statesAmong } from '../fileserver/file-roots.ts';
import type { FunctionMeta, ModuleMeta } from '../protocol/meta.ts';
import type { PlainDict } from '../protocol/plain.ts';
import type { CheckedHost } from '../roster/roster.ts';
import type { Finding } from '../validate/findings.ts';
import { isInFolder } from './project-root.ts';
import { type Outline, outlineOf } from './text/outline.ts';

/** The project that a language server serves. */
export type ServedProject = {
  readonly config: Config;
  /** Reads the rosters; absent where nothing of the project may be rendered. */
  readonly openRoster?: () => Promise<ServedRoster>;
  /** Files beside the roots; absent as well where nothing may be rendered. */
  readonly files?: ServedFiles;
};

/** `tsalt.yaml`, rosters and the Saltfile. */
export type ServedFiles = {
  readonly kindOf: (path: string) => SettingsKind | undefined;
  readonly schemaOf: (kind: SettingsKind) => PlainDict;
  readonly check: (kind: SettingsKind, path: string, text: string) => Promise<readonly Finding[]>;
};

type SettingsKind = 'config' | 'roster' | 'saltfile';

/** Returns whether a file has a JSON Schema of its own, and is in no root. */
export const isSettings = (kind: ProjectFile['kind']): kind is SettingsKind =>
  kind === 'config' || kind === 'roster' || kind === 'saltfile';

export type ServedRoster = {
  readonly hosts: readonly CheckedHost[];
  readonly requestFor: (hostId: string | undefined) => Request;
};

/** A file of the project, with its role. */
export type ProjectFile = {
  readonly path: string;
  /** Its path inside the roots. */
  readonly rel: string;
  readonly saltenv: string;
  readonly kind: 'sls' | 'top' | 'pillar' | 'pillar-top' | 'other' | SettingsKind;
  /** The name of an SLS. */
  readonly name?: string;
};

/** A function that states or templates can call, with its module. */
export type KnownFunction = { readonly fun: FunctionMeta; readonly module: ModuleMeta };

const mostFiles = 2000;
const largestFile = 256 * 1024;
/** Listings of folders are read again after so many milliseconds. */
const listingAge = 3000;

/** The files and modules of a project; open documents count as they are in the editor. */
export class Workspace {
  readonly config: Config;
  readonly files: ServedFiles | undefined;
  readonly #unsaved: ReadonlyMap<string, string>;
  readonly #outlines = new Map<string, { key: string; outline: Outline }>();
  #roots: { read: number; states: FileRoots; pillar: FileRoots } | undefined;
  #modules: Promise<readonly ModuleMeta[]> | undefined;

  /** @param unsaved the texts of open documents by absolute path */
  constructor(project: ServedProject, unsaved: ReadonlyMap<string, string>) {
    this.config = project.config;
    this.files = project.files;
    this.#unsaved = unsaved;
  }

  /** Forgets listings and modules: files were added, removed or saved. */
  refresh(): void {
    this.#roots = undefined;
    this.#modules = undefined;
  }

  /** All modules, the user's included. Nothing of them is executed. */
  modules(): Promise<readonly ModuleMeta[]> {
    this.#modules ??= knownModules(this.config).catch(() => []);
    return this.#modules;
  }

  /** Functions by full name. */
  async functions(kind: 'state' | 'exec'): Promise<ReadonlyMap<string, FunctionMeta>> {
    return functionsOf(await this.modules(), kind);
  }

  /** The functions that a name may mean, those of the user's modules first. */
  async functionsNamed(kind: 'state' | 'exec', name: string): Promise<KnownFunction[]> {
    const dot = name.lastIndexOf('.');
    const [called, own] = [name.slice(0, dot), name.slice(dot + 1)];
    return (await this.modules())
      .filter(module => module.kind === kind && module.broken === undefined)
      .filter(({ virtualname, file, virtual = [] }) =>
        [virtualname ?? file, ...virtual].includes(called),
      )
      .flatMap(module =>
        module.functions.filter(fun => fun.name === own).map(fun => ({ fun, module })),
      )
      .sort((a, b) => Number(a.module.builtin) - Number(b.module.builtin));
  }

  get states(): FileRoots {
    return this.#open().states;
  }

  get pillar(): FileRoots {
    return this.#open().pillar;
  }

  #open(): { states: FileRoots; pillar: FileRoots } {
    const now = Date.now();
    if (!this.#roots || now - this.#roots.read > listingAge) {
      const { file_roots, pillar_roots } = this.config;
      const options = { ...this.config, unsaved: this.#unsaved };
      const states = new FileRoots(file_roots, options);
      this.#roots = { read: now, states, pillar: new FileRoots(pillar_roots, options) };
    }
    return this.#roots;
  }

  /** Returns the role of a file; undefined for one that is not of the project. */
  fileAt(path: string): ProjectFile | undefined {
    const settings = this.files?.kindOf(path);
    if (settings) return { path, rel: basename(path), saltenv: 'base', kind: settings };
    for (const [roots, isPillar] of [
      [this.pillar, true],
      [this.states, false],
    ] as const)
      for (const saltenv of roots.envs())
        for (const folder of roots.folders(saltenv)) {
          if (path === folder || !isInFolder(folder, path)) continue;
          const rel = relative(folder, path).split(sep).join('/');
          return projectFile(path, rel, saltenv, isPillar, this.config);
        }
    return undefined;
  }

  /** The path of an SLS by its name; a leading dot is relative to another SLS. */
  slsPath(name: string, from: ProjectFile): string | undefined {
    const base = absoluteName(name, from).replaceAll('.', '/');
    const roots = from.kind.startsWith('pillar') ? this.pillar : this.states;
    return [`${base}.sls`, `${base}/init.sls`]
      .map(rel => roots.find(rel, from.saltenv)?.path)
      .find(path => path !== undefined);
  }

  /** The SLS files of an environment. */
  slsFiles(from: Pick<ProjectFile, 'kind' | 'saltenv'>): ProjectFile[] {
    const isPillar = from.kind.startsWith('pillar');
    const roots = isPillar ? this.pillar : this.states;
    return listOf(roots, from.saltenv)
      .filter(rel => rel.endsWith('.sls'))
      .slice(0, mostFiles)
      .flatMap(rel => {
        const path = roots.find(rel, from.saltenv)?.path;
        return path === undefined
          ? []
          : [projectFile(path, rel, from.saltenv, isPillar, this.config)];
      });
  }

  /** All files behind `salt://`. */
  saltPaths(saltenv: string): readonly string[] {
    return listOf(this.states, saltenv);
  }

  /** A file as the editor has it, else as it is saved. */
  text(path: string): string | undefined {
    const open = this.#unsaved.get(path);
    if (open !== undefined) return open;
    try {
      const about = statSync(path);
      // Reading a named pipe would never end.
      if (!about.isFile() || about.size > largestFile) return undefined;
      return readFileSync(path, 'utf8');
    } catch {
      return undefined;
    }
  }

  /** The outline of an SLS, read again when its text changes. */
  outline(path: string): Outline {
    const open = this.#unsaved.get(path);
    const key = open ?? savedKey(path);
    const known = this.#outlines.get(path);
    if (known?.key === key) return known.outline;
    const outline = outlineOf(open ?? this.text(path) ?? '');
    this.#outlines.set(path, { key, outline });
    return outline;
  }
}

const savedKey = (path: string): string => {
  try {
    const { size, mtimeMs, ino } = statSync(path);
    return `\0${size}:${mtimeMs}:${ino}`;
  } catch {
    return '\0';
  }
};

const listOf = (roots: FileRoots, saltenv: string): readonly string[] => {
  try {
    return roots.list(saltenv);
  } catch {
    // A folder that is missing, or that another user could write: a check reports it.
    return [];
  }
};

const projectFile = (
  path: string,
  rel: string,
  saltenv: string,
  isPillar: boolean,
  { state_top }: Config,
): ProjectFile => {
  if (!rel.endsWith('.sls')) return { path, rel, saltenv, kind: 'other' };
  const name = statesAmong([rel])[0] ?? '';
  const top = isPillar ? 'top.sls' : state_top.replace(/^salt:\/\//, '');
  if (rel === top) return { path, rel, saltenv, kind: isPillar ? 'pillar-top' : 'top', name };
  return { path, rel, saltenv, kind: isPillar ? 'pillar' : 'sls', name };
};

/** The full name of an included SLS: `.a` is beside, `..a` a folder above. */
export const absoluteName = (name: string, { name: own = '', rel }: ProjectFile): string => {
  const dots = /^\.+/.exec(name)?.[0].length ?? 0;
  if (dots === 0) return name;
  const parts = own.split('.');
  const folder = rel.endsWith('/init.sls') ? parts : parts.slice(0, -1);
  const base = folder.slice(0, folder.length - (dots - 1));
  return [...base, name.slice(dots)].filter(part => part !== '').join('.');
};
