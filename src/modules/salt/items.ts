import type { Plain } from '../../protocol/plain.ts';

/** A list as it is, nothing as an empty list, one value as a list of one. */
export const asItems = (value: Plain | undefined): readonly Plain[] => {
  if (value === undefined || value === null || value === '') return [];
  return Array.isArray(value) ? value : [value];
};
