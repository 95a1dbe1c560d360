import { requisiteKeywords as names } from '../protocol/state-keywords.ts';

/** Requisites of a state: extending one adds to its list. */
export const requisiteWords: ReadonlySet<unknown> = new Set(names);

/** Requisites that are added to another state. */
export const requisiteInNames: ReadonlySet<unknown> = new Set([
  'require_in',
  'watch_in',
  'onfail_in',
  'onchanges_in',
  'use',
  'use_in',
  'prereq',
  'prereq_in',
]);

/** Arguments that `use` never copies. */
export const notUsed: ReadonlySet<unknown> = new Set([
  ...requisiteInNames,
  'require',
  'watch',
  'onfail',
  'onfail_stop',
  'onchanges',
  'name',
  'names',
]);
