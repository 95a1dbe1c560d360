import { cloneData, cloneTree, isTree } from '../data/clone.ts';
import type { Data } from '../data/value.ts';
import { loadYaml } from '../yaml/load.ts';
import { isTrue } from './filters/filter.ts';
import { TextCache } from './text-cache.ts';
import type { Stage } from './types.ts';

/** What a text is as data, and how that is copied. */
type Kept = { readonly data: Data; readonly copy: (data: Data) => Data };

/** By text, then by the file that errors name. */
const cache = new TextCache<Map<string, Kept>>(32_000_000);

/** YAML by Salt's rules. The same text for another host is parsed once and then copied. */
export const renderYaml = (text: string, { request }: Stage): Data => {
  const files = cache.get(text);
  const known = files?.get(request.file);
  if (known) return known.copy(known.data);
  const loaded = loadYaml(text, { file: request.file, ordered: true });
  const data = isTrue(loaded) ? loaded : new Map();
  if (!cache.isWorth(text)) return data;
  const kept: Kept = { data, copy: isTree(data) ? cloneTree : cloneData };
  if (files) files.set(request.file, kept);
  else cache.set(text, new Map([[request.file, kept]]));
  return kept.copy(data);
};
