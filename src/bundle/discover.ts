import { type Dirent, readdirSync, statSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import type { ModuleKind } from '../protocol/meta.ts';
import { type FolderMetadata, folderMetadata } from './inputs.ts';
import type { ModuleFolder } from './portable-path.ts';

/** Folders of a file root that contain modules, with the kind of these modules. */
const userFolders: Readonly<Record<string, ModuleKind>> = {
  _modules: 'exec',
  _states: 'state',
  _grains: 'grains',
  _utils: 'utils',
  _contracts: 'contracts',
  _renderers: 'renderers',
  _pillar: 'pillar',
  _outputters: 'outputters',
  _matchers: 'matchers',
  _returners: 'returners',
};

/** Folders of a domain that hold modules, in the order of their kinds. */
const builtinFolders = [
  ['exec', 'exec'],
  ['states', 'state'],
  ['grains', 'grains'],
] as const;
const extensions = ['.ts', '.mts', '.js', '.mjs', '.cjs'];

/** A module before its files were read. */
export type FoundModule = {
  readonly kind: ModuleKind;
  /** Its name, from its path: `cmd`, `my_cloud.my_resource`. */
  readonly name: string;
  /** Its source files; several when a built-in folder is one module. */
  readonly files: readonly string[];
  readonly builtin: boolean;
  /** The folder of modules it was found in. */
  readonly home: ModuleFolder;
  readonly saltenv?: string;
  /** A zip archive to be opened; `files` is empty until then. */
  readonly zip?: string;
  /** Why it cannot be a module, known from the file name alone. */
  readonly broken?: string;
};

export type Discovered = {
  readonly modules: readonly FoundModule[];
  /**
   * All folders and links as they were before the search: the result is valid while they are
   * unchanged.
   */
  readonly folders: readonly FolderMetadata[];
};

/**
 * Finds the modules that ship with tsalt-ssh: those in `exec`, `states` and `grains` of each domain,
 * a folder of `src/modules`.
 *
 * @param root the folder of the package
 * @returns modules by kind, then by name
 */
export const discoverBuiltins = (root: string): Discovered => {
  const folders: FolderMetadata[] = [];
  const all = join(root, 'src', 'modules');
  const domains = list(all, folders).filter(entry => !entry.file && !isHidden(entry.name));
  const inside = domains.map(({ name }) => ({ name, entries: list(join(all, name), folders) }));
  const modules = builtinFolders.flatMap(([folder, kind]) =>
    inside
      .filter(({ entries }) => entries.some(entry => !entry.file && entry.name === folder))
      .flatMap(({ name }) => modulesOf(join(all, name, folder), kind, all, folders))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
  );
  return { modules, folders };
};

const modulesOf = (
  folder: string,
  kind: ModuleKind,
  all: string,
  folders: FolderMetadata[],
): FoundModule[] =>
  list(folder, folders).flatMap((entry): FoundModule[] => {
    const path = join(folder, entry.name);
    const at = { kind, builtin: true, home: { path: all, name: '' } } as const;
    if (isHidden(entry.name)) return [];
    if (entry.file)
      return isSource(entry.name) ? [{ ...at, name: stem(entry.name), files: [path] }] : [];
    const parts = list(path, folders).filter(part => part.file && isSource(part.name));
    const index = parts.find(part => stem(part.name) === 'index');
    const files = (index ? [index] : parts.filter(part => !isHidden(part.name))).map(part =>
      join(path, part.name),
    );
    return files.length > 0 ? [{ ...at, name: entry.name, files }] : [];
  });

/**
 * Finds the user's modules in `_modules`, `_states` … of all file roots. `base` goes before other
 * environments, and earlier roots before later ones; the first module of a name wins.
 *
 * @param zips - Whether archives are modules (`enable_zip_modules`).
 */
export const discoverUser = (
  fileRoots: Readonly<Record<string, readonly string[]>>,
  extraDirs: Readonly<Record<string, readonly string[]>> = {},
  zips = true,
): Discovered => {
  const folders: FolderMetadata[] = [];
  const seen = new Set<string>();
  const modules: FoundModule[] = [];
  const addFrom = (path: string, name: string, common: Omit<Common, 'home'>): void => {
    for (const module of walk(path, { ...common, home: { path, name } }, '', folders)) {
      if (module.zip !== undefined && !zips) continue;
      const key = `${module.kind} ${module.name}`;
      if (seen.has(key)) continue;
      seen.add(key);
      modules.push(module);
    }
  };
  for (const saltenv of sortedEnvs(Object.keys(fileRoots)))
    for (const root of fileRoots[saltenv] ?? [])
      for (const [folder, kind] of Object.entries(userFolders))
        addFrom(join(root, folder), folder, { kind, builtin: false, saltenv });
  for (const [folder, kind] of Object.entries(userFolders))
    for (const dir of extraDirs[folder] ?? []) addFrom(dir, folder, { kind, builtin: false });
  return { modules, folders };
};

const sortedEnvs = (envs: readonly string[]): string[] =>
  [...envs].sort((a, b) => (a === 'base' ? -1 : b === 'base' ? 1 : a < b ? -1 : 1));

type Common = Pick<FoundModule, 'kind' | 'builtin' | 'home' | 'saltenv'>;

const walk = (
  folder: string,
  common: Common,
  prefix: string,
  folders: FolderMetadata[],
): FoundModule[] =>
  list(folder, folders).flatMap((entry): FoundModule[] => {
    if (isHidden(entry.name)) return [];
    const path = join(folder, entry.name);
    const name = prefix + stem(entry.name);
    if (!entry.file) return walkFolder(path, common, prefix + entry.name, folders);
    if (isSource(entry.name)) return [{ ...common, name, files: [path] }];
    if (entry.name.endsWith('.zip') && prefix === '')
      return [{ ...common, name, files: [], zip: path }];
    if (entry.name.endsWith('.py') && standIns.has(`${common.kind} ${name}`)) return [];
    if (entry.name.endsWith('.py'))
      return [{ ...common, name, files: [path], broken: `${python} (${path})` }];
    return [];
  });

/**
 * Modules that Salt does not have. They are built in for formulas that contain them in Python, so
 * these files do not hide them.
 */
const standIns = new Set(['exec ufw', 'state ufw']);

const python = 'it is written in Python; tsalt-ssh runs modules in TypeScript or JavaScript';

const walkFolder = (
  path: string,
  common: Common,
  name: string,
  folders: FolderMetadata[],
): FoundModule[] => {
  const index = indexFile(list(path, folders));
  if (index !== undefined) return [{ ...common, name, files: [join(path, index)] }];
  return walk(path, common, `${name}.`, folders);
};

const indexFile = (entries: readonly Entry[]): string | undefined =>
  entries.find(entry => entry.file && isSource(entry.name) && stem(entry.name) === 'index')?.name;

type Entry = { readonly name: string; readonly file: boolean };

/** Lists files and folders of a folder by name, following links; none if it does not exist. */
const list = (folder: string, folders: FolderMetadata[]): Entry[] => {
  folders.push(folderMetadata(folder));
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter(entry => entry.name !== 'node_modules')
      .flatMap(entry => toEntry(folder, entry, folders))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return [];
  }
};

const toEntry = (folder: string, entry: Dirent, folders: FolderMetadata[]): Entry[] => {
  const { name } = entry;
  if (entry.isSymbolicLink()) folders.push(folderMetadata(join(folder, name)));
  const kind = entry.isSymbolicLink() ? statSync(join(folder, name), quiet) : entry;
  if (kind?.isFile()) return [{ name, file: true }];
  return kind?.isDirectory() ? [{ name, file: false }] : [];
};

const quiet = { throwIfNoEntry: false } as const;

const isHidden = (name: string): boolean => /^[._]/.test(name) || name === 'lib';

const isSource = (name: string): boolean =>
  extensions.includes(extname(name)) && !/\.(d|test|spec)\.[mc]?[jt]s$/.test(name);

const stem = (name: string): string => basename(name, extname(name));
