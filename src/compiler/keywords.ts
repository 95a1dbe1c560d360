import { requisiteKeywords as names } from '../protocol/state-keywords.ts';

/** Requisites as a state carries them: extending one adds to its list. */
export const requisiteKeywords: ReadonlySet<unknown> = new Set(names);

/** Requisites that say something about another state. */
export const requisiteInKeywords: ReadonlySet<unknown> = new Set([
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
  ...requisiteInKeywords,
  'require',
  'watch',
  'onfail',
  'onfail_stop',
  'onchanges',
  'name',
  'names',
]);
