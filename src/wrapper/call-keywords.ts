import { closestMatch } from '../data/closest-match.ts';
import { invalidKeywords } from '../data/signatures/bind.ts';
import type { Dict } from '../data/values/value.ts';
import { TsaltError } from '../protocol/error.ts';

/** Keywords of every function that compiles or runs states, as in Salt 3006. */
export const stateKeywords: readonly string[] = [
  'concurrent',
  'exclude',
  'extra_filerefs',
  'force',
  'localconfig',
  'pillar',
  'pillarenv',
  'queue',
  'saltenv',
  'sync_mods',
  'terse',
  'test',
  'whitelist',
];

/**
 * Names that people write by habit or from other tools, too different from the keyword for a
 * spelling check.
 */
const slips: Readonly<Record<string, string>> = {
  check: 'test',
  check_mode: 'test',
  dry: 'test',
  dry_run: 'test',
  dryrun: 'test',
  env: 'saltenv',
  environment: 'saltenv',
  noop: 'test',
  pillar_env: 'pillarenv',
  pillar_data: 'pillar',
  salt_env: 'saltenv',
  simulate: 'test',
  sls: 'mods',
  what_if: 'test',
  whatif: 'test',
};

/** Keywords of Salt that have no effect here. */
const unsupported: Readonly<Record<string, string>> = {
  mock: 'test=True shows what would change.',
  pillar_enc:
    'Write the encrypted values into a pillar file that begins with #!yaml|gpg or #!yaml|age.',
  roster_grains: 'Grains of a host are written in its roster entry: grains: {…}.',
  cache: 'States are compiled anew for each run.',
};

/** Whether a keyword exists in Salt but has no effect here. */
export const isUnsupportedKeyword = (name: string): boolean => Object.hasOwn(unsupported, name);

/**
 * Returns the keyword that an unknown one most likely means.
 *
 * @param name the unknown keyword
 * @param known the function's keywords
 */
export const meantKeyword = (name: string, known: readonly string[]): string | undefined => {
  const plain = name.toLowerCase().replaceAll('-', '_');
  const slip = Object.hasOwn(slips, plain) ? slips[plain] : undefined;
  return slip !== undefined && known.includes(slip) ? slip : closestMatch(plain, known);
};

/**
 * Refuses unknown keywords, although Salt ignores them: a run with `tets=True` would change hosts
 * although it was meant to change nothing.
 *
 * @param fun the function's name, for the message
 * @param known the function's keywords
 * @throws TsaltError `arguments`
 */
export const refuseUnknownKeywords = (fun: string, known: readonly string[], given: Dict): void => {
  const unknown = [...given.keys()].map(String).filter(name => !isKnown(name, known));
  if (unknown.length === 0) return;
  const meant = new Set(unknown.flatMap(name => meantKeyword(name, known) ?? []));
  const hint =
    meant.size > 0 ? ` (did you mean ${[...meant].map(one => `'${one}'`).join(', ')}?)` : '';
  const reason = unknown.flatMap(name =>
    Object.hasOwn(unsupported, name) ? unsupported[name] : [],
  );
  throw new TsaltError('arguments', `${invalidKeywords(fun, unknown)}${hint}.`, {
    hint: reason[0] ?? `It takes ${[...new Set(known)].toSorted().join(', ')}.`,
  });
};

/** `Test=True` is read as `test=True`. Salt adds keywords of its own such as `__pub_jid`. */
const isKnown = (name: string, known: readonly string[]): boolean =>
  known.includes(name) ||
  name.startsWith('__') ||
  (name.toLowerCase() === 'test' && known.includes('test'));
