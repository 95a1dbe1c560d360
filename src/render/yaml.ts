import type { Ranges } from '../data/taint.ts';
import { cloneData, cloneTree, isTree } from '../data/values/clone.ts';
import type { Data } from '../data/values/value.ts';
import { loadYaml } from '../yaml/load.ts';
import type { YamlLoadOptions } from '../yaml/yaml-error.ts';
import { isTrueData } from './filters/filter.ts';
import { loadLargeYaml } from './large-yaml.ts';
import { traceOf } from './retrace.ts';
import { TextCache } from './text-cache.ts';
import type { Stage } from './types.ts';

type Scalar = readonly [value: string, ranges: Ranges];

/** The data of a text, a function that copies it, and its tainted parts. */
type Kept = {
  readonly data: Data;
  readonly copy: (data: Data) => Data;
  readonly scalars: readonly Scalar[];
};

/**
 * By text, then by the file name for errors and by the tainted parts. Data takes some ten times the
 * memory of its text.
 */
const cache = new TextCache<Map<string, Kept>>(16_000_000);

/** Renders YAML by Salt's rules. The same text for another host is parsed once and then copied. */
export const renderYaml = (
  text: string,
  { request, tainted, origins }: Stage,
): Data | Promise<Data> => {
  const { taint } = request.context;
  if (text.length >= largeText && !(tainted && taint))
    return renderLarge(text, { file: request.file, trace: traceOf(origins, request.file) });
  const key = tainted && taint ? `${request.file}${markOf(tainted)}` : request.file;
  const files = cache.get(text);
  const known = files?.get(key);
  if (known) return learned(known, request);
  const scalars: Scalar[] = [];
  const onScalar = (...scalar: Scalar): void => void scalars.push(scalar);
  const loaded = loadYaml(text, {
    file: request.file,
    ordered: true,
    trace: traceOf(origins, request.file),
    ...(tainted && taint ? { taint: { ranges: tainted, owner: taint.owner, onScalar } } : {}),
  });
  const data = isTrueData(loaded) ? loaded : new Map();
  if (!cache.isWorth(text)) return learned({ data, copy: own => own, scalars }, request);
  const kept: Kept = { data, copy: isTree(data) ? cloneTree : cloneData, scalars };
  if (files) files.set(key, kept);
  else cache.set(text, new Map([[key, kept]]));
  return learned(kept, request);
};

const largeText = 1_000_000;

const renderLarge = async (text: string, options: YamlLoadOptions): Promise<Data> => {
  const loaded = await loadLargeYaml(text, { ...options, ordered: true });
  return isTrueData(loaded) ? loaded : new Map();
};

/** Returns the data after recording its taint in this host's table. */
const learned = ({ data, copy, scalars }: Kept, { context: { taint } }: Stage['request']): Data => {
  for (const [value, ranges] of scalars) taint?.learn(value, ranges);
  return copy(data);
};

const markOf = (ranges: Ranges): string =>
  ranges.map(({ start, end, isNode }) => `\0${start}-${end}${isNode ? 'n' : ''}`).join('');
