import { requisiteKeywords } from '../protocol/state-keywords.ts';

const requisites: ReadonlySet<unknown> = new Set(requisiteKeywords);

/** Whether an argument is a requisite: extending a state adds to its list. */
export const isRequisiteKeyword = (key: unknown): boolean => requisites.has(key);

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
