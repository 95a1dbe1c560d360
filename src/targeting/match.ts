import { fnmatch } from '../data/python/glob.ts';
import { isInside, parseIpAddress, parseIpNetwork } from '../data/python/ip-address.ts';
import { pyStr } from '../data/python/python-text.ts';
import type { Data, Dict } from '../data/values/value.ts';
import { isDict } from '../data/values/value.ts';
import { TsaltError } from '../protocol/error.ts';
import { getOwn } from '../protocol/plain.ts';
import type { CompoundExpression, Term } from './compound.ts';
import { parseCompound, parseTerm } from './compound.ts';
import type { Nodegroups } from './nodegroup.ts';
import { expandNodegroup } from './nodegroup.ts';
import { pythonMatch, pythonRegExp } from './python-regex.ts';
import type { MatchKind } from './subdict.ts';
import { subdictMatch } from './subdict.ts';

/** The types of targets, with Salt's names (`match:` in top files, `tgt_type`). */
export type MatchType =
  | 'glob'
  | 'pcre'
  | 'list'
  | 'grain'
  | 'grain_pcre'
  | 'pillar'
  | 'pillar_pcre'
  | 'pillar_exact'
  | 'ipcidr'
  | 'nodegroup'
  | 'data'
  | 'compound';

/** The host to match, as far as it is known. */
export type Subject = {
  readonly id: string;
  readonly grains: Dict;
  readonly pillar: Dict;
  readonly nodegroups: Nodegroups;
  /** The user's matchers, by name: they go before built-in ones. */
  readonly matchers?: Matchers;
  /** The host's data store (`data.*`), for `data` targets. */
  readonly data?: Dict;
};

/** The user's matchers (`_matchers`). They return synchronously. */
export type Matchers = ReadonlyMap<
  string,
  (expression: Data, subject: Subject, delimiter: string) => boolean
>;

export type MatchOptions = { readonly delimiter?: string | undefined };

const isMatchType = (type: string): type is MatchType => Object.hasOwn(matchers, type);

/**
 * Whether this expression matches this host.
 *
 * @param expression - A string; for `list` and `compound` also a list.
 * @param type - One of `MatchType`.
 * @throws TsaltError `unknown-matcher`, `bad-regex`. A malformed compound expression matches
 *   nothing, as in Salt; `complaint` returns the reason.
 */
export const matches = (
  expression: Data,
  type: string,
  subject: Subject,
  options: MatchOptions = {},
): boolean => {
  const own = subject.matchers?.get(type);
  if (own) return own(expression, subject, options.delimiter ?? ':');
  if (!isMatchType(type)) throw unknownMatcher(type);
  return matchers[type](expression, subject, options.delimiter ?? ':');
};

/** The facts about a host that are known before it is asked. */
export type PartlyKnown = {
  readonly id: string;
  /** Top-level grains whose values are certain: they override what the host collects. */
  readonly grains: Dict;
  /** Whether all grains are known: missing ones do not exist. */
  readonly isComplete?: boolean;
  readonly nodegroups: Nodegroups;
};

/**
 * Whether this expression matches this host, if that is certain without asking the host: ids,
 * lists, regular expressions, nodegroups, and known grains. In compounds, one term may decide.
 *
 * @returns undefined if grains or pillar of the host decide
 * @throws TsaltError `unknown-matcher`, `bad-regex`
 */
export const decideTarget = (
  expression: Data,
  type: string,
  known: PartlyKnown,
  { delimiter = ':' }: MatchOptions = {},
): boolean | undefined => {
  if (!isMatchType(type)) throw unknownMatcher(type);
  if (type === 'compound' || type === 'nodegroup') {
    if (type === 'nodegroup' && !Object.hasOwn(known.nodegroups, pyStr(expression))) return false;
    const parsed = parsedCompound(expression, type, known.nodegroups);
    if ('wrong' in parsed || !termsOf(parsed).every(term => engineType(term) !== undefined))
      return false;
    return decideExpression(parsed.expression, known);
  }
  if (!isCertain(pyStr(expression), type, known, delimiter)) return undefined;
  return matchers[type](expression, { ...known, pillar: new Map() }, delimiter);
};

const isCertain = (
  text: string,
  type: MatchType,
  { grains: known, isComplete = false }: PartlyKnown,
  delimiter: string,
): boolean => {
  if (type === 'grain' || type === 'grain_pcre')
    return isComplete || known.has(text.split(delimiter)[0] ?? '');
  if (type === 'ipcidr') return isComplete || (known.has('ipv4') && known.has('ipv6'));
  return !type.startsWith('pillar');
};

/** Kleene's logic: one false term decides an `and`, one true term an `or`. */
const decideExpression = (
  expression: CompoundExpression,
  known: PartlyKnown,
): boolean | undefined => {
  switch (expression.kind) {
    case 'not': {
      const inner = decideExpression(expression.of, known);
      return inner === undefined ? undefined : !inner;
    }
    case 'and':
      return decideAll(expression.all, known, false);
    case 'or':
      return decideAll(expression.all, known, true);
    case 'term': {
      const { term } = expression;
      const type = engineType(term);
      return type === undefined ? false : decideTarget(term.pattern, type, known, term);
    }
  }
};

const decideAll = (
  all: readonly CompoundExpression[],
  known: PartlyKnown,
  decisive: boolean,
): boolean | undefined => {
  const decided = all.map(one => decideExpression(one, known));
  if (decided.includes(decisive)) return decisive;
  return decided.includes(undefined) ? undefined : !decisive;
};

/** Returns the data of a host that an expression needs. */
export const needs = (
  expression: Data,
  type: string,
  nodegroups: Nodegroups = {},
): { readonly grains: boolean; readonly pillar: boolean } => {
  if (!isMatchType(type)) throw unknownMatcher(type);
  const types =
    type === 'compound' || type === 'nodegroup'
      ? termsOf(parsedCompound(expression, type, nodegroups)).map(term => engineType(term))
      : [type];
  return {
    grains: types.some(one => one === 'grain' || one === 'grain_pcre' || one === 'ipcidr'),
    pillar: types.some(one => one?.startsWith('pillar')),
  };
};

/**
 * Returns why an expression cannot match anything, as one sentence; undefined if it can. For
 * targets on the command line: top files follow Salt and silently match nothing.
 */
export const targetError = (
  expression: Data,
  type: string,
  nodegroups: Nodegroups = {},
): string | undefined => {
  if (!isMatchType(type)) return unknownMatcher(type).message;
  const text = pyStr(expression);
  try {
    if (type === 'pcre') pythonRegExp(text);
    if (type === 'ipcidr' && !parseIpNetwork(text))
      return `"${text}" is neither an address nor a network`;
    if (/^(grain|pillar)/.test(type) && !text.includes(':'))
      return `"${text}" has no value to compare with: write key:value`;
    if (type.endsWith('_pcre')) pythonRegExp(text.slice(text.lastIndexOf(':') + 1));
    if (type === 'nodegroup' && !Object.hasOwn(nodegroups, text))
      return `There is no nodegroup "${text}"`;
    if (type === 'compound' || type === 'nodegroup')
      return compoundComplaint(expression, type, nodegroups);
  } catch (error) {
    if (error instanceof TsaltError) return error.message;
    throw error;
  }
  return undefined;
};

const compoundComplaint = (
  expression: Data,
  type: string,
  nodegroups: Nodegroups,
): string | undefined => {
  const text = pyStr(expression);
  for (const word of compoundWords(expression, type, nodegroups)) {
    const { engine, pattern } = parseTerm(word);
    if (engine === 'N' && !Object.hasOwn(nodegroups, pattern))
      return `There is no nodegroup "${pattern}"`;
  }
  const parsed = parsedCompound(expression, type, nodegroups);
  if ('wrong' in parsed) return `Target "${text}" makes no sense: ${parsed.wrong}`;
  for (const term of termsOf(parsed)) {
    const kind = engineType(term);
    if (kind === undefined)
      return `Target "${text}" makes no sense: there is no target type ${term.engine}@`;
    const wrong = targetError(term.pattern.replaceAll(term.delimiter ?? ':', ':'), kind);
    if (wrong) return wrong;
  }
  return undefined;
};

const unknownMatcher = (type: string): TsaltError =>
  new TsaltError('unknown-matcher', `There is no target type "${type}"`, {
    hint: `Known are ${Object.keys(matchers).join(', ')}.`,
  });

type Matcher = (expression: Data, subject: Subject, delimiter: string) => boolean;

const inDict =
  (where: (subject: Subject) => Dict, comparison: MatchKind): Matcher =>
  (expression, subject, delimiter) =>
    subdictMatch(where(subject), pyStr(expression), delimiter, comparison);

const grains = (subject: Subject): Dict => subject.grains;
const pillar = (subject: Subject): Dict => subject.pillar;

const matchers: Record<MatchType, Matcher> = {
  glob: (expression, { id }) => typeof expression === 'string' && fnmatch(id, expression),
  pcre: (expression, { id }) => pythonMatch(pyStr(expression), id),
  list: (expression, { id }) =>
    Array.isArray(expression)
      ? expression.includes(id)
      : pyStr(expression)
          .split(',')
          .some(name => name === id),
  grain: inDict(grains, 'glob'),
  grain_pcre: inDict(grains, 'regex'),
  pillar: inDict(pillar, 'glob'),
  pillar_pcre: inDict(pillar, 'regex'),
  pillar_exact: inDict(pillar, 'exact'),
  ipcidr: (expression, subject) => ipMatch(pyStr(expression), subject.grains),
  nodegroup: (expression, subject) =>
    Object.hasOwn(subject.nodegroups, pyStr(expression)) &&
    compoundMatch(parsedCompound(expression, 'nodegroup', subject.nodegroups), subject),
  data: (expression, subject) => dataMatch(pyStr(expression), subject.data),
  compound: (expression, subject) =>
    compoundMatch(parsedCompound(expression, 'compound', subject.nodegroups), subject),
};

const engines: Readonly<Record<string, MatchType>> = {
  G: 'grain',
  P: 'grain_pcre',
  I: 'pillar',
  J: 'pillar_pcre',
  L: 'list',
  S: 'ipcidr',
  E: 'pcre',
};

const engineType = (term: Term): MatchType | undefined =>
  term.engine === undefined ? 'glob' : getOwn(engines, term.engine);

type Parsed = ReturnType<typeof parseCompound>;

const compoundWords = (
  expression: Data,
  type: string,
  nodegroups: Nodegroups,
): readonly string[] => {
  if (type === 'nodegroup') return expandNodegroup(pyStr(expression), nodegroups);
  return Array.isArray(expression)
    ? expression.map(pyStr)
    : pyStr(expression).split(/\s+/).filter(Boolean);
};

const parsedCompound = (expression: Data, type: string, nodegroups: Nodegroups): Parsed =>
  parseCompound(compoundWords(expression, type, nodegroups), nodegroups);

const compoundMatch = (parsed: Parsed, subject: Subject): boolean =>
  !('wrong' in parsed) &&
  termsOf(parsed).every(term => engineType(term) !== undefined) &&
  evaluate(parsed.expression, subject);

const evaluate = (expression: CompoundExpression, subject: Subject): boolean => {
  switch (expression.kind) {
    case 'not':
      return !evaluate(expression.of, subject);
    case 'and':
      return expression.all.every(one => evaluate(one, subject));
    case 'or':
      return expression.all.some(one => evaluate(one, subject));
    case 'term': {
      const { term } = expression;
      const type = engineType(term);
      return type !== undefined && matches(term.pattern, type, subject, term);
    }
  }
};

const termsOf = (parsed: Parsed): Term[] => {
  if ('wrong' in parsed) return [];
  const terms: Term[] = [];
  const open: CompoundExpression[] = [parsed.expression];
  for (let one = open.pop(); one; one = open.pop()) {
    if (one.kind === 'term') terms.push(one.term);
    else if (one.kind === 'not') open.push(one.of);
    else open.push(...one.all);
  }
  return terms;
};

const ipMatch = (text: string, grainsOfHost: Dict): boolean => {
  const network = parseIpNetwork(text);
  if (!network) return false;
  const known = grainsOfHost.get(`ipv${network.version}`);
  if (!Array.isArray(known)) return false;
  return known.some(one => {
    const address = parseIpAddress(pyStr(one));
    return address !== undefined && isInside(address, network);
  });
};

const dataMatch = (text: string, data: Dict | undefined): boolean => {
  const [key, pattern] = text.split(':');
  if (key === undefined || pattern === undefined) return false;
  const value = data?.get(key);
  if (value === undefined || value === null) return false;
  if (isDict(value)) return value.has(pattern);
  return Array.isArray(value)
    ? value.some(one => fnmatch(pyStr(one).toLowerCase(), pattern.toLowerCase()))
    : fnmatch(pyStr(value), pattern);
};
