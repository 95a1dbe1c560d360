import { existsSync, readFileSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Artifact } from '../protocol/artifact.ts';
import type { ControlFunction } from '../protocol/manifest.ts';
import type { ModuleMeta } from '../protocol/meta.ts';
import { checkTrusted } from '../trust/check.ts';
import { isUnwritable, withSpareCache } from '../trust/spare-cache.ts';
import type { BuildRequest } from './build.ts';
import { type CachePaths, pathsOf } from './cache/cache-paths.ts';
import { codeCacheOf } from './cache/code-cache.ts';
import { pruneArtifacts } from './cache/prune.ts';
import { type Discovered, discoverBuiltins, discoverUser } from './discover.ts';
import { type Goal, kindsOf } from './entry.ts';
import {
  type FolderMetadata,
  type InputMetadata,
  isSameFolder,
  noneExists,
  refreshInputs,
  sha256,
} from './inputs.ts';
import { bundlerVersion } from './locate.ts';
import { unpackMeta } from './meta-file.ts';
import type { PrebuiltArtifact } from './prebuilt.ts';
import { privateDir, writePrivate } from './private-dir.ts';
import { isUnpacked, sourceRoot } from './source-root.ts';
import { openTrace } from './trace.ts';

export type ArtifactOptions = {
  readonly fileRoots: Readonly<Record<string, readonly string[]>>;
  /** Private to this user; created if it does not exist. */
  readonly cacheDir: string;
  /** More module folders by kind of folder: `{ _modules: ['/opt/modules'] }`. */
  readonly extraDirs?: Readonly<Record<string, readonly string[]>>;
  /** Whether zip archives are modules (`enable_zip_modules`). Default true. */
  readonly zips?: boolean;
  /** Functions of the control node: the host forwards their calls. */
  readonly controlFunctions?: readonly ControlFunction[];
  /** The file whose `start` the artifact calls; normally the runtime's own. */
  readonly runtime?: string;
};

/** The recorded inputs of a build. */
type Index = PrebuiltArtifact & {
  /** Identifies the bundler and its settings, apart from the modules. */
  readonly made: string;
  /** Identifies the modules that were found, and the folders that were searched for them. */
  readonly found: string;
  readonly folders: readonly FolderMetadata[];
};

/**
 * Returns the artifact of these file roots: from the cache while none of its inputs changed,
 * otherwise built by esbuild. A module that cannot be read or bundled is left out; its
 * `ModuleMeta.broken` has the reason.
 * @throws `TsaltError` if the cache folder is not private or tsalt-ssh itself cannot be bundled
 */
export const buildArtifact = (options: ArtifactOptions): Promise<Artifact> => {
  const root = sourceRoot();
  return cached(root, options, () => findModules(root, options), 'host');
};

/**
 * Returns the program that only collects grains, in the same way. It is sent to hosts whose grains
 * decide whether they are targets.
 */
export const buildGrainsProgram = (options: ArtifactOptions): Promise<Artifact> => {
  const root = sourceRoot();
  const { controlFunctions: _, ...rest } = options;
  return cached(root, rest, () => onlyForGrains(findModules(root, rest)), 'grains');
};

const onlyForGrains = ({ modules, folders }: Discovered): Discovered => ({
  modules: modules.filter(({ kind }) => kindsOf.grains.has(kind)),
  folders,
});

/** Returns the bundle of these modules: from the cache if nothing changed, otherwise built. */
export const cached = (
  root: string,
  options: ArtifactOptions,
  discover: () => Discovered,
  goal: Goal,
): Promise<Artifact> =>
  withSpareCache(options.cacheDir, cacheDir =>
    cachedIn(root, { ...options, cacheDir }, discover, goal),
  );

const cachedIn = async (
  root: string,
  options: ArtifactOptions,
  discover: () => Discovered,
  goal: Goal,
): Promise<Artifact> => {
  const { cacheDir } = options;
  const dir = privateDir(join(privateDir(cacheDir), 'artifacts'));
  const made = sha256(JSON.stringify([bundlerVersion(), options.controlFunctions ?? []]));
  const { fileRoots, extraDirs, runtime, zips } = options;
  const named = [goal, root, fileRoots, extraDirs, runtime, ...(zips === false ? ['no zips'] : [])];
  const key = sha256(JSON.stringify(named)).slice(0, 32);
  const indexPath = join(dir, `index-${key}.json`);
  const known = readIndex(indexPath);
  const isUsable = known?.made === made && isWhole(pathsOf(dir, key, known));
  const found = isUsable && known.folders.every(isSameFolder) ? undefined : look(root, discover);
  if (isUsable && (found === undefined || found.key === known.found)) {
    const { folders } = found ?? known;
    const inputs = noneExists(known.absent) ? refreshInputs(known.inputs) : undefined;
    if (inputs && (inputs !== known.inputs || folders !== known.folders))
      await writeIfPossible(cacheDir, indexPath, JSON.stringify({ ...known, folders, inputs }));
    if (inputs) {
      checkInputs(root, inputs);
      return fromCache(root, cacheDir, pathsOf(dir, key, known), known, goal);
    }
  }
  const { modules, folders, key: foundKey } = found ?? look(root, discover);
  const request = { root, dir, key, found: modules, options, goal };
  const built = (await prebuilt(request)) ?? (await (await import('./build.ts')).build(request));
  checkInputs(root, built.inputs);
  await pruneArtifacts(dir, built.sha256);
  const inputs = changeable(root, built.inputs);
  const index: Index = { made, found: foundKey, folders, ...built, inputs };
  await writePrivate(indexPath, JSON.stringify(index));
  return fromCache(root, cacheDir, pathsOf(dir, key, index), index, goal);
};

/** Refuses sources of the user's modules that another user could write: they run as root. */
const checkInputs = (root: string, inputs: readonly InputMetadata[]): void => {
  const shipped = ['src', 'node_modules', 'dist'].map(name => join(root, name, '/'));
  for (const { path } of inputs)
    if (!shipped.some(folder => path.startsWith(folder))) checkTrusted(path, 'The module');
};

const prebuilt = async ({
  root,
  dir,
  key,
  found,
  options,
  goal,
}: BuildRequest): Promise<PrebuiltArtifact | undefined> => {
  if (goal === 'control' || options.runtime !== undefined) return undefined;
  if (!found.every(({ builtin }) => builtin)) return undefined;
  const { takePrebuilt } = await import('./prebuilt.ts');
  const { controlFunctions = [] } = options;
  return takePrebuilt({ root, goal, found, controlFunctions }, dir, key);
};

/**
 * Finds built-in modules and the user's; a user's module hides the built-in one of the same file
 * name.
 */
export const findModules = (root: string, options: ArtifactOptions): Discovered => {
  const user = discoverUser(options.fileRoots, options.extraDirs, options.zips);
  const builtin = discoverBuiltins(root);
  const taken = new Set(user.modules.map(({ kind, name }) => `${kind} ${name}`));
  const rest = builtin.modules.filter(({ kind, name }) => !taken.has(`${kind} ${name}`));
  return { modules: [...user.modules, ...rest], folders: [...user.folders, ...builtin.folders] };
};

type Found = Discovered & { readonly key: string };

const look = (root: string, discover: () => Discovered): Found => {
  const { modules, folders } = discover();
  const key = sha256(JSON.stringify(modules));
  return { modules, folders: changeable(root, folders), key };
};

/** Leaves out what is in the unpacked sources: each run would look at a thousand files. */
const changeable = <T extends { readonly path: string }>(
  root: string,
  found: readonly T[],
): readonly T[] =>
  isUnpacked(root) ? found.filter(({ path }) => !path.startsWith(join(root, '/'))) : found;

const isWhole = ({ js, meta }: CachePaths): boolean => [js, meta].every(existsSync);

const readIndex = (path: string): Index | undefined => {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Index;
  } catch {
    return undefined;
  }
};

const fromCache = (
  root: string,
  cacheDir: string,
  paths: CachePaths,
  index: Index,
  goal: Goal,
): Artifact => {
  const { js: path, meta, map } = paths;
  let modules: readonly ModuleMeta[] | undefined;
  let packed: Promise<Uint8Array> | undefined;
  let trace: Artifact['trace'] | undefined;
  return {
    sha256: index.sha256,
    size: index.size,
    path,
    ...(goal === 'host'
      ? {
          codeCache: codeCacheOf(index.sha256, paths, (file, content) =>
            writeIfPossible(cacheDir, file, content),
          ),
        }
      : {}),
    compressed: () => {
      packed ??= compress(cacheDir, paths);
      return packed;
    },
    get modules() {
      modules ??= readModules(meta);
      return modules;
    },
    trace: positions => {
      trace ??= openTrace(root, map);
      return trace(positions);
    },
  };
};

/** The modules that were read last: runs of a session have the same, with what was made of them. */
let lastRead: { readonly metadata: string; readonly modules: readonly ModuleMeta[] } | undefined;

const readModules = (path: string): readonly ModuleMeta[] => {
  const { ino, size, mtimeMs, ctimeMs } = statSync(path);
  const metadata = [path, ino, size, mtimeMs, ctimeMs].join('\0');
  if (lastRead?.metadata !== metadata)
    lastRead = { metadata, modules: unpackMeta(readFileSync(path)) };
  return lastRead.modules;
};

/** Writes a file that this run itself does not need. */
const writeIfPossible = async (
  cacheDir: string,
  path: string,
  content: string | Uint8Array,
): Promise<void> => {
  try {
    await writePrivate(path, content);
  } catch (error) {
    if (!isUnwritable(cacheDir, error)) throw error;
  }
};

const compress = async (
  cacheDir: string,
  { js: path, packed }: CachePaths,
): Promise<Uint8Array> => {
  try {
    return await readFile(packed);
  } catch {
    const { brotliCompress, constants } = await import('node:zlib');
    const text = await readFile(path);
    const bytes = await promisify(brotliCompress)(text, {
      params: {
        // 1 % larger than by 9, for 60 % of the time.
        [constants.BROTLI_PARAM_QUALITY]: 7,
        [constants.BROTLI_PARAM_SIZE_HINT]: text.length,
      },
    });
    await writeIfPossible(cacheDir, packed, bytes);
    return bytes;
  }
};
