import { isOrdered } from '../../src/data/values/ordered.ts';
import { keyPosition, nodePosition } from '../../src/data/values/position.ts';
import type { Data } from '../../src/data/values/value.ts';

/** A value with all that is known of its collections. */
export const described = (data: Data | undefined): unknown => {
  if (Array.isArray(data))
    return {
      at: nodePosition(data),
      items: data.map((item, index) => [keyPosition(data, index), described(item)]),
    };
  if (data instanceof Map)
    return {
      at: nodePosition(data),
      ordered: isOrdered(data),
      pairs: [...data].map(([key, item]) => [key, keyPosition(data, key), described(item)]),
    };
  return data;
};
