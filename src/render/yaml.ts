import { cloneData } from '../data/clone.ts';
import type { Data } from '../data/value.ts';
import { loadYaml } from '../yaml/load.ts';
import { TextCache } from './text-cache.ts';
import type { Stage } from './types.ts';

const cache = new TextCache<Data>(32_000_000);

/** YAML by Salt's rules. The same text for another host is parsed once and then copied. */
export const renderYaml = (text: string, { request }: Stage): Data => {
  const key = `${request.file}\0${text}`;
  const known = cache.get(key);
  if (known !== undefined) return cloneData(known);
  const data = loadYaml(text, { file: request.file, ordered: true }) || new Map();
  if (cache.isWorth(key)) {
    cache.set(key, data);
    return cloneData(data);
  }
  return data;
};
