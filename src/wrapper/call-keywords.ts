import { nearest } from '../data/nearest.ts';
import { invalidKeywords } from '../data/signatures/bind.ts';
import type { Dict } from '../data/values/value.ts';
import { TsaltError } from '../protocol/error.ts';

/** Keywords of every function that compiles or runs states, as Salt 3006 takes them. */
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

/** Names that people write by habit or from other tools, too far from the keyword for a misspelling. */
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

/** Keywords of Salt that would be ignored here. */
const unsupported: Readonly<Record<string, string>> = {
  mock: 'test=True shows what would change.',
  pillar_enc:
    'Write the encrypted values into a pillar file that begins with #!yaml|gpg or #!yaml|age.',
  roster_grains: 'Grains of a host are written in its roster entry: grains: {…}.',
  cache: 'States are compiled anew for each run.',
};

/** Whether Salt knows a keyword that would be ignored here. */
export const isUnsupportedKeyword = (name: string): boolean => Object.hasOwn(unsupported, name);

/**
 * The keyword that an unknown one most likely means.
 *
 * @param name the unknown keyword
 * @param known what the function takes
 */
export const meantKeyword = (name: string, known: readonly string[]): string | undefined => {
  const plain = name.toLowerCase().replaceAll('-', '_');
  const slip = Object.hasOwn(slips, plain) ? slips[plain] : undefined;
  return slip !== undefined && known.includes(slip) ? slip : nearest(plain, known);
};

/**
 * Refuses keywords that a function does not take, although Salt ignores them: with `tets=True`
 * a run that was meant to change nothing would be a real one.
 *
 * @param fun the function's name, for the message
 * @param known what the function takes
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

/** `Test=True` is taken for `test=True`. Salt adds keywords of its own such as `__pub_jid`. */
const isKnown = (name: string, known: readonly string[]): boolean =>
  known.includes(name) ||
  name.startsWith('__') ||
  (name.toLowerCase() === 'test' && known.includes('test'));
