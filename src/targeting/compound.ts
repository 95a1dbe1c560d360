import type { Nodegroups } from './nodegroup.ts';
import { expandNodegroup, operators } from './nodegroup.ts';

/** One term of a compound expression that names hosts: `G@os:Debian`, `web*`. */
export type Term = {
  /** The letter before `@`; absent for a glob. */
  readonly engine?: string;
  readonly delimiter?: string;
  readonly pattern: string;
};

export type CompoundExpression =
  | { readonly kind: 'term'; readonly term: Term }
  | { readonly kind: 'not'; readonly of: CompoundExpression }
  | { readonly kind: 'and' | 'or'; readonly all: readonly CompoundExpression[] };

/**
 * Parses `G@os:Debian and ( web* or not L@a,b )`: `not` binds before `and` before `or`. Returns an
 * error sentence for an expression that can never match.
 */
export const parseCompound = (
  expression: string | readonly string[],
  nodegroups: Nodegroups,
): { expression: CompoundExpression } | { wrong: string } => {
  const words = typeof expression === 'string' ? expression.split(/\s+/) : expression;
  const tokens = expandWords(words.filter(Boolean), nodegroups);
  const reader = { tokens: withAnds(tokens), at: 0 };
  try {
    if (reader.tokens.length === 0) throw new Wrong('it has no term');
    const parsed = readOr(reader);
    const rest = reader.tokens[reader.at];
    if (rest !== undefined) throw new Wrong(`"${rest}" is where "and" or "or" is expected`);
    return { expression: parsed };
  } catch (error) {
    if (error instanceof Wrong) return { wrong: error.message };
    throw error;
  }
};

export const parseTerm = (word: string): Term => {
  const found = /^(?:([GPIJLNSER])((?<=[GPIJ]).)?@)?(.+)$/s.exec(word);
  const [, engine, delimiter, pattern = word] = found ?? [];
  return {
    pattern,
    ...(engine === undefined ? {} : { engine }),
    ...(delimiter === undefined ? {} : { delimiter }),
  };
};

class Wrong extends Error {}

type Reader = { readonly tokens: readonly string[]; at: number };

const expandWords = (words: readonly string[], nodegroups: Nodegroups): string[] =>
  words.flatMap(word => {
    const term = operators.includes(word) ? undefined : parseTerm(word);
    return term?.engine === 'N' ? expandNodegroup(term.pattern, nodegroups) : [word];
  });

/** `a not b` means `a and not b`. */
const withAnds = (tokens: readonly string[]): string[] =>
  tokens.flatMap((token, at) => {
    const before = tokens[at - 1];
    const joins = token === 'not' && before !== undefined && !['and', 'or', '('].includes(before);
    return joins && before !== 'not' ? ['and', token] : [token];
  });

const readOr = (reader: Reader): CompoundExpression => readJoined(reader, 'or', readAnd);
const readAnd = (reader: Reader): CompoundExpression => readJoined(reader, 'and', readNot);

const readJoined = (
  reader: Reader,
  kind: 'and' | 'or',
  next: (reader: Reader) => CompoundExpression,
): CompoundExpression => {
  const all = [next(reader)];
  while (reader.tokens[reader.at] === kind) {
    reader.at += 1;
    all.push(next(reader));
  }
  return all.length === 1 ? (all[0] as CompoundExpression) : { kind, all };
};

const readNot = (reader: Reader): CompoundExpression => {
  if (reader.tokens[reader.at] !== 'not') return readTerm(reader);
  reader.at += 1;
  if (reader.tokens[reader.at] === 'not') throw new Wrong('"not" stands twice in a row');
  return { kind: 'not', of: readTerm(reader) };
};

const readTerm = (reader: Reader): CompoundExpression => {
  const token = reader.tokens[reader.at];
  if (token === undefined) throw new Wrong('it ends where a term is expected');
  reader.at += 1;
  if (token === '(') {
    const inner = readOr(reader);
    if (reader.tokens[reader.at] !== ')') throw new Wrong('a "(" is never closed');
    reader.at += 1;
    return inner;
  }
  if (operators.includes(token)) throw new Wrong(`"${token}" is where a term is expected`);
  return { kind: 'term', term: parseTerm(token) };
};
