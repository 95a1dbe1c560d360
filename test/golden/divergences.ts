import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDict, toPlain } from '../../src/data/values/value.ts';
import type { Plain, PlainDict } from '../../src/protocol/plain.ts';
import { loadYaml } from '../../src/yaml/load.ts';

/** A case whose answer differs from Salt's on purpose. */
export type Divergence = {
  readonly case: string;
  /** The difference, in one sentence. */
  readonly what: string;
  /** Why ours is right, one sentence. */
  readonly why: string;
  /** The places that differ, with the value there: any other difference fails the case. */
  readonly ours: readonly { readonly path: string; readonly actual: Plain }[];
};

export const readDivergences = (): ReadonlyMap<string, Divergence> => {
  const file = join(import.meta.dirname, 'divergences.yaml');
  const data = loadYaml(readFileSync(file, 'utf8'), { file });
  const entries = Array.isArray(data) ? data.filter(isDict).map(toPlain) : [];
  return new Map((entries as PlainDict[]).map(entry => [String(entry.case), divergence(entry)]));
};

const divergence = (entry: PlainDict): Divergence => ({
  case: String(entry.case),
  what: String(entry.what),
  why: String(entry.why),
  ours: Object.entries((entry.ours ?? {}) as PlainDict).map(([path, actual]) => ({ path, actual })),
});
