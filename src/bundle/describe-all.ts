import { readFileSync } from 'node:fs';
import { parse } from '@babel/parser';
import { type Described, describeModule } from './describe.ts';
import type { FoundModule } from './discover.ts';
import type { EntryModule } from './entry.ts';
import { sha256 } from './inputs.ts';
import { bundlerVersion } from './locate.ts';
import { writePrivate } from './private-dir.ts';
import { createSources } from './source.ts';

/** A description and the hashes of the files it was read from. */
type Remembered = {
  readonly files: readonly (readonly [path: string, sha256: string])[];
  readonly described: Described;
};

type Memory = { readonly bundler: string; readonly modules: Readonly<Record<string, Remembered>> };

/**
 * Describes modules; unchanged ones are not parsed again. `cache` is the file with earlier
 * descriptions, `shipped` the text of such a file in the package, used in addition. Parsing is most
 * of the cost of building an artifact.
 */
export const describeAll = async (
  modules: readonly FoundModule[],
  cache: string,
  shipped: () => string | undefined = () => undefined,
): Promise<{ described: EntryModule[]; files: string[] }> => {
  const memory = readMemory(cache);
  const next: Record<string, Remembered> = {};
  const sources = createSources(parse);
  const hashes = new Map<string, string | undefined>();
  let changed = false;
  const hash = (path: string): string | undefined => {
    if (!hashes.has(path)) hashes.set(path, hashOf(path));
    return hashes.get(path);
  };
  const all: EntryModule[] = [];
  const describe = (module: FoundModule): Remembered => {
    changed = true;
    const own = sources.scoped();
    const described = describeModule(own, module);
    const files = [...new Set([...module.files, ...own.files])];
    return { described, files: files.map(path => [path, hash(path) ?? ''] as const) };
  };
  let more: Memory['modules'] | undefined;
  const look = (key: string): Remembered | undefined => {
    if (memory[key]) return memory[key];
    changed = true;
    more ??= parseMemory(shipped())?.modules ?? {};
    return more[key];
  };
  for (const module of modules) {
    const key = JSON.stringify(module);
    const known = look(key);
    const isSame = known?.files.every(([path, before]) => hash(path) === before) === true;
    const remembered = isSame ? known : describe(module);
    next[key] = remembered;
    all.push({ described: remembered.described, files: module.files, home: module.home });
  }
  if (changed || Object.keys(next).length !== Object.keys(memory).length)
    await writePrivate(cache, JSON.stringify({ bundler: bundlerVersion(), modules: next }));
  const files = Object.values(next).flatMap(known => known.files.map(([path]) => path));
  return { described: all, files };
};

const readMemory = (path: string): Memory['modules'] => {
  const memory = parseMemory(read(path)?.toString());
  return memory?.bundler === bundlerVersion() ? memory.modules : {};
};

const parseMemory = (text: string | undefined): Memory | undefined => {
  try {
    return text === undefined ? undefined : (JSON.parse(text) as Memory);
  } catch {
    return undefined;
  }
};

const hashOf = (path: string): string | undefined => {
  const content = read(path);
  return content && sha256(content);
};

const read = (path: string): Buffer | undefined => {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
};
