import { stamp } from './stamp.ts';
import type { Dict } from './value.ts';

const ordered = stamp<true>();

/**
 * Says that a dictionary is one of Python's ordered ones: what the `yaml` renderer reads (SLS,
 * pillar) is, what a template makes (`{}`, `load_yaml`, `import_yaml`) is not. It shows where
 * YAML is written: an ordered dictionary keeps its keys as they stand, others are sorted.
 */
export const markOrdered = <T extends Dict>(dict: T): T => {
  ordered.put(dict, true);
  return dict;
};

export const isOrdered = (dict: object): boolean => ordered.of(dict) === true;

/** A dictionary of the same kind with the same entries. */
export const copyDict = (dict: Dict): Dict =>
  isOrdered(dict) ? markOrdered(new Map(dict)) : new Map(dict);
