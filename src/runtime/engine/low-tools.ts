import type { LowChunk } from '../../protocol/low.ts';
import type { Plain, PlainDict } from '../../protocol/plain.ts';
import { isPlainDict } from '../../protocol/plain.ts';

export const requisiteKeywords = [
  'onchanges',
  'onchanges_any',
  'onfail',
  'onfail_any',
  'onfail_all',
  'onfail_stop',
  'prereq',
  'prerequired',
  'watch',
  'watch_any',
  'require',
  'require_any',
  'listen',
] as const;

export const requisiteInKeywords = [
  'onchanges_in',
  'onfail_in',
  'prereq_in',
  'watch_in',
  'require_in',
  'listen_in',
] as const;

const runtimeKeywords = [
  'fun',
  'state',
  'check_cmd',
  'cmd_opts_exclude',
  'failhard',
  'onlyif',
  'unless',
  'creates',
  'retry',
  'order',
  'parallel',
  'prereq',
  'prereq_in',
  'prerequired',
  'reload_modules',
  'reload_grains',
  'reload_pillar',
  'runas',
  'runas_password',
  'fire_event',
  'saltenv',
  'umask',
  'use',
  'use_in',
  'no_log',
  'aggregate',
  'provider',
  'providers',
  '__agg__',
  '__reqs__',
  '__env__',
  '__sls__',
  '__id__',
  '__prereq__',
  '__prerequired__',
  '__umask__',
];

/** Keywords that belong to the state system: a function gets one only when it names it itself. */
export const internalKeywords: ReadonlySet<string> = new Set([
  ...requisiteKeywords,
  ...requisiteInKeywords,
  ...runtimeKeywords,
]);

export type Requisite = { readonly key: string; readonly value: Plain };

/** `{pkg.installed: vim}` → pkg: vim; a bare string means any state of that id or name. */
export const readRequisite = (item: Plain): Requisite => {
  if (!isPlainDict(item)) return { key: 'id', value: item };
  const [key = 'id', value = null] = Object.entries(item)[0] ?? [];
  return { key: key.includes('.') ? (key.split('.')[0] ?? key) : key, value };
};

export const requisitesOf = (low: LowChunk, type: string): readonly Requisite[] => {
  const list = low[type];
  return Array.isArray(list) ? list.map(readRequisite) : [];
};

export const asList = (value: Plain | undefined): readonly Plain[] =>
  value === undefined ? [] : Array.isArray(value) ? value : [value];

/** Python's truth of a value. */
export const truthy = (value: unknown): boolean => {
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return Boolean(value);
};

export const hasChanges = (result: { changes: PlainDict } | undefined): boolean =>
  result !== undefined && truthy(result.changes);
