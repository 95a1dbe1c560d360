import { objectNote } from './object-note.ts';
import type { Dict } from './value.ts';

const ordered = objectNote<true>();

/**
 * Marks a dictionary as one of Python's ordered ones: those of the `yaml` renderer (SLS, pillar)
 * are ordered, those of a template (`{}`, `load_yaml`, `import_yaml`) are not. The difference is
 * visible in YAML output: an ordered dictionary keeps its key order, others are sorted.
 */
export const markOrdered = <T extends Dict>(dict: T): T => {
  ordered.put(dict, true);
  return dict;
};

export const isOrdered = (dict: object): boolean => ordered.of(dict) === true;
