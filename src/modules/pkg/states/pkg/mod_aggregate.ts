import { lowTag } from '../../../../protocol/low.ts';
import { isPlainDict } from '../../../../protocol/plain.ts';
import type { LowChunk, Plain, PlainDict } from '../../../api.ts';

const aggregated = ['installed', 'latest', 'removed', 'purged'];

/** Moves the packages of all later states of the same function into this one. */
export const mod_aggregate = async (
  low: LowChunk,
  chunks: LowChunk[],
  running: PlainDict,
): Promise<LowChunk> => {
  if (!aggregated.includes(low.fun) || 'hold' in low) return low;
  const kind = 'sources' in low ? 'sources' : 'pkgs';
  const added: Plain[] = [];
  for (const chunk of chunks) {
    const tag = lowTag(chunk);
    if (tag === lowTag(low) || tag in running || chunk.state !== 'pkg') continue;
    if ('__agg__' in chunk || chunk.fun !== low.fun || 'hold' in chunk) continue;
    if ((chunk.fromrepo ?? null) !== (low.fromrepo ?? null)) continue;
    if (('sources' in chunk ? 'sources' : 'pkgs') !== kind) continue;
    added.push(...packagesOf(chunk, kind));
    chunk.__agg__ = true;
  }
  // A state with `pkgs` ignores its name.
  if (added.length > 0) low[kind] = once([...packagesOf(low, kind), ...added]);
  low.__agg__ = true;
  return low;
};

/**
 * Removes duplicates: equal packages of several states, and a name alone beside one with a version.
 */
const once = (packages: readonly Plain[]): Plain[] => {
  const pinned = new Set(packages.filter(isPlainDict).flatMap(one => Object.keys(one)));
  const seen = new Set<string>();
  return packages.filter(one => {
    const key = JSON.stringify(one);
    if (seen.has(key) || (typeof one === 'string' && pinned.has(one))) return false;
    seen.add(key);
    return true;
  });
};

const packagesOf = (chunk: LowChunk, kind: 'pkgs' | 'sources'): Plain[] => {
  const list = chunk[kind];
  if (Array.isArray(list)) return list;
  if (isPlainDict(list)) return Object.entries(list).map(([name, value]) => ({ [name]: value }));
  const { name, version } = chunk;
  delete chunk.version;
  return version === undefined || version === null ? [name] : [{ [String(name)]: version }];
};
