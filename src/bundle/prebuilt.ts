import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { firstLineLength, headOf } from '../protocol/artifact-head.ts';
import type { ControlFunction } from '../protocol/manifest.ts';
import { type CachePaths, pathsOf } from './cache/cache-paths.ts';
import type { FoundModule } from './discover.ts';
import type { Goal } from './entry.ts';
import { type InputMetadata, inputMetadata, sha256 } from './inputs.ts';
import { filesIn, packageRoot } from './locate.ts';
import { writePrivate } from './private-dir.ts';

/*
 * The files that `npm run build` writes to `dist/prebuilt`: the artifact of a tree without user
 * modules, and the metadata of the built-in modules. A first run, and every run of a CI job with an
 * empty cache, copies them instead of parsing and bundling hundreds of files.
 */

/** A file's path below the package, and the hash of its content. */
type Input = readonly [path: string, sha256: string];

type Index = {
  readonly found: string;
  readonly control: string;
  /** The files that decide how modules are described and bundled. */
  readonly bundler: readonly Input[];
  readonly inputs: readonly Input[];
  readonly sha256: string;
  readonly size: number;
  /** Other artifacts are linked to it. The program that only collects grains has none. */
  readonly base?: PrebuiltBase;
};

/** The part of an artifact that is the same whatever modules a user has. */
export type PrebuiltBase = {
  /** The bytes of the artifact at which it begins and ends, all of them ASCII. Its blocks are the rest. */
  readonly from: number;
  readonly size: number;
  /** The names of its modules. */
  readonly modules: readonly string[];
  /** The names that `tsalt-ssh/module` exports. */
  readonly api: readonly string[];
};

/** A base with its text, which ends with a line end, and its line of the file for positions. */
export type LinkBase = Omit<PrebuiltBase, 'from' | 'size'> & {
  readonly text: string;
  readonly trace: string;
  /** The blocks that belong behind it, and their line of that file; empty if there are none. */
  readonly blocks: string;
  readonly blocksTrace: string;
  readonly inputs: readonly InputMetadata[];
  readonly absent: readonly string[];
};

export type PrebuiltRequest = {
  readonly root: string;
  /** Default: the artifact. */
  readonly goal?: PrebuiltGoal;
  readonly found: readonly FoundModule[];
  readonly controlFunctions: readonly ControlFunction[];
};

/** The programs for hosts. */
type PrebuiltGoal = Exclude<Goal, 'control'>;

/** An artifact that was copied into a cache. */
export type PrebuiltArtifact = {
  readonly sha256: string;
  readonly size: number;
  readonly inputs: readonly InputMetadata[];
  /** Files whose creation would change the result. */
  readonly absent: readonly string[];
};

/**
 * The files of `dist/prebuilt`; all but the index are compressed.
 *
 * @param root the folder of the sources; unpacked ones have no `dist`: the package has it
 */
export const prebuiltFiles = (root: string, goal: PrebuiltGoal = 'host') => {
  const above = existsSync(join(root, 'dist')) ? root : packageRoot();
  const at = (name: string): string => join(above, 'dist', 'prebuilt', name);
  const name = goal === 'grains' ? 'grains' : 'artifact';
  return {
    index: at(goal === 'grains' ? 'grains.json' : 'index.json'),
    described: at('described.json.br'),
    packed: at(`${name}.br`),
    meta: at(`${name}.meta.br`),
    map: at(`${name}.map.br`),
  };
};

/**
 * Copies the prebuilt artifact into the folder `dir` of a cache, if it belongs to these modules and
 * none of its inputs have changed since.
 */
export const takePrebuilt = async (
  request: PrebuiltRequest,
  dir: string,
  key: string,
): Promise<PrebuiltArtifact | undefined> => {
  const { root, goal } = request;
  const index = readIndex(root, goal);
  const wanted = requestHashes(request);
  if (index?.found !== wanted.found || index.control !== wanted.control) return undefined;
  const opened = openPrebuilt(root, index, goal);
  const meta = unpack(read(prebuiltFiles(root, goal).meta));
  if (!opened || !meta) return undefined;
  const { packed, js, map, inputs } = opened;
  const to: CachePaths = pathsOf(dir, key, index);
  await writePrivate(to.meta, inFolder(root, meta.toString()));
  await writePrivate(to.map, map);
  await writePrivate(to.packed, packed);
  await writePrivate(to.js, js);
  return { sha256: index.sha256, size: index.size, inputs, absent: [] };
};

/** Returns the base of the prebuilt artifact, if none of its inputs has changed since. */
export const prebuiltBase = (root: string): LinkBase | undefined => {
  const index = readIndex(root);
  if (!index?.base) return undefined;
  const opened = openPrebuilt(root, index);
  if (!opened) return undefined;
  const { js, map, inputs } = opened;
  const { from, size, ...base } = index.base;
  const text = js.toString('latin1', from, size);
  const head = headOf(js.toString('latin1', 0, firstLineLength));
  const lines = map.toString().split(/(?<=\n)/);
  return {
    ...base,
    text,
    trace: lines[0] ?? '',
    blocks: head ? js.toString('latin1', head.bytes) : '',
    blocksTrace: head ? (lines.at(-1) ?? '') : '',
    inputs,
    absent: [],
  };
};

/** Reads the prebuilt artifact; undefined if an input has changed since, or a file is not whole. */
const openPrebuilt = (root: string, index: Index, goal?: PrebuiltGoal) => {
  const inputs = index.inputs.flatMap(input => unchanged(root, input) ?? []);
  if (inputs.length < index.inputs.length) return undefined;
  const from = prebuiltFiles(root, goal);
  const packed = read(from.packed);
  const [js, map] = [packed, read(from.map)].map(unpack);
  if (!packed || !js || !map || sha256(js) !== index.sha256) return undefined;
  return { packed, js, map, inputs };
};

/**
 * Returns the prebuilt descriptions of the built-in modules, in the format of a file of
 * `describeAll`.
 */
export const prebuiltDescriptions = (root: string): string | undefined => {
  const text = readIndex(root) && unpack(read(prebuiltFiles(root).described));
  return text && inFolder(root, text.toString());
};

/** Returns the index of an artifact that was built in this package, as text. */
export const prebuiltIndex = (
  request: PrebuiltRequest,
  built: Omit<PrebuiltArtifact, 'absent'>,
  base?: PrebuiltBase,
): string => {
  const { root } = request;
  const inputOf = ({ path, sha256: sha }: InputMetadata): Input => [relative(root, path), sha];
  const folder = join(root, 'src', 'bundle');
  return JSON.stringify({
    ...requestHashes(request),
    bundler: filesIn(folder).map(path => inputOf(inputMetadata(path))),
    // Packages are not checked: whatever replaces them also rebuilds this (`prepare`).
    inputs: built.inputs.map(inputOf).filter(([path]) => !path.split(sep).includes('node_modules')),
    sha256: built.sha256,
    size: built.size,
    ...(base ? { base } : {}),
  } satisfies Index);
};

/** Placeholder for the folder of the package, which may differ where the text is read. */
const mark = '{package}/';
export const outOfFolder = (root: string, text: string): string =>
  text.replaceAll(root + sep, mark);
const inFolder = (root: string, text: string): string => text.replaceAll(mark, root + sep);

const requestHashes = ({ root, found, controlFunctions }: PrebuiltRequest) => ({
  found: sha256(outOfFolder(root, JSON.stringify(found))),
  control: sha256(JSON.stringify(controlFunctions)),
});

/** Returns the index, if the same bundler made it. */
const readIndex = (root: string, goal?: PrebuiltGoal): Index | undefined => {
  try {
    const index = JSON.parse(readFileSync(prebuiltFiles(root, goal).index, 'utf8')) as Index;
    return index.bundler.every(input => unchanged(root, input)) ? index : undefined;
  } catch {
    return undefined;
  }
};

const unchanged = (root: string, [path, sha]: Input): InputMetadata | undefined => {
  const file = join(root, path);
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return undefined;
  const stamp = inputMetadata(file);
  return stamp.sha256 === sha ? stamp : undefined;
};

/** Decompresses a file; undefined if it is damaged. */
const unpack = (packed: Buffer | undefined): Buffer | undefined => {
  try {
    return packed && brotliDecompressSync(packed);
  } catch {
    return undefined;
  }
};

const read = (path: string): Buffer | undefined => {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
};
