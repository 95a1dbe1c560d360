import { splitCommandArgs } from '../_shared/text/command-args.ts';
import { parseAddress } from '../_shared/text/ip-address.ts';

/** An entry of a set: its element and its options (`timeout 30`, `comment "a b"`). */
export type IpsetEntry = {
  readonly element: string;
  readonly options: ReadonlyMap<string, string>;
};

/** Reads an entry as `ipset list` writes it and `ipset add` takes it. */
export const parseEntry = (text: string): IpsetEntry => {
  const [element = '', ...words] = splitCommandArgs(text);
  const options = new Map<string, string>();
  for (let at = 0; at < words.length; at += 1) {
    const name = words[at] ?? '';
    if (flags.has(name)) options.set(name, '');
    else options.set(name, words[++at] ?? '');
  }
  return { element, options };
};

const flags: ReadonlySet<string> = new Set(['nomatch']);

/** Returns an entry's options as arguments of `ipset add`. */
export const optionArgs = ({ options }: IpsetEntry): string[] =>
  [...options].flatMap(([name, value]) => (flags.has(name) ? [name] : [name, value]));

/** One part of an element: a range of addresses, or a word. */
type Part = { readonly from: bigint; readonly to: bigint; readonly bits: number } | string;

const partOf = (text: string): Part => {
  const [first = '', last] = text.split('-');
  const [network = '', prefix] = first.split('/');
  const start = parseAddress(network);
  const end = last === undefined ? start : parseAddress(last);
  if (!start || !end || start.bits !== end.bits) return text;
  if (prefix === undefined) return { from: start.value, to: end.value, bits: start.bits };
  if (!/^\d+$/.test(prefix) || Number(prefix) > start.bits) return text;
  const host = (1n << BigInt(start.bits - Number(prefix))) - 1n;
  return { from: start.value & ~host, to: start.value | host, bits: start.bits };
};

const covers = (member: Part, wanted: Part): boolean =>
  typeof member === 'string' || typeof wanted === 'string'
    ? member === wanted
    : member.bits === wanted.bits && member.from <= wanted.from && member.to >= wanted.to;

/**
 * Whether members hold an entry: all of its addresses, and its comment where it has one. A timeout
 * runs down: what is left of it is not compared.
 */
export const holdsEntry = (members: readonly IpsetEntry[], wanted: IpsetEntry): boolean => {
  const comment = wanted.options.get('comment');
  const fitting = members.filter(
    ({ options }) =>
      options.has('nomatch') === wanted.options.has('nomatch') &&
      (comment === undefined || options.get('comment') === comment),
  );
  const parts = wanted.element.split(',').map(partOf);
  const all = fitting.map(({ element }) => element.split(',').map(partOf));
  const isOne = (member: readonly Part[]): boolean =>
    member.length >= parts.length && parts.every((part, at) => covers(member[at] ?? '', part));
  const [only] = parts;
  return all.some(isOne) || (parts.length === 1 && only !== undefined && isJoined(all, only));
};

/** Whether several members together cover a range. */
const isJoined = (members: readonly (readonly Part[])[], wanted: Part): boolean => {
  if (typeof wanted === 'string') return false;
  const ranges = members
    .flatMap(([part]) => (typeof part === 'object' && part.bits === wanted.bits ? [part] : []))
    .sort((one, other) => (one.from < other.from ? -1 : 1));
  let next = wanted.from;
  for (const { from, to } of ranges) if (from <= next && to >= next) next = to + 1n;
  return next > wanted.to;
};
