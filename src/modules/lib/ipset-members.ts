import { type IpAddress, parseAddress } from './ip-address.ts';
import { splitWords } from './words.ts';

/** An entry of a set: the element, and what else is said of it (`timeout`, `comment` …). */
export type IpsetMember = { readonly element: string; readonly comment: string | undefined };

/** Reads `10.0.0.1 timeout 5 comment "of mine"`. */
export const readMember = (text: string): IpsetMember => {
  const [element = '', ...options] = splitWords(text);
  const at = options.indexOf('comment');
  return { element, comment: at < 0 ? undefined : options[at + 1] };
};

/** First and last address of `10.0.0.1`, `10.0.0.0/24` or `10.0.0.1-10.0.0.9`. */
type Span = { readonly bits: IpAddress['bits']; readonly from: bigint; readonly to: bigint };

const spanOf = (text: string): Span | undefined => {
  const [first = '', last] = text.split('-');
  const [address = '', prefix] = first.split('/');
  const start = parseAddress(address);
  const end = last === undefined ? start : parseAddress(last);
  if (!start || !end || start.bits !== end.bits) return undefined;
  if (prefix === undefined) return { bits: start.bits, from: start.value, to: end.value };
  const size = 1n << BigInt(Math.max(0, start.bits - Number(prefix)));
  const from = (start.value / size) * size;
  return { bits: start.bits, from, to: from + size - 1n };
};

/** Whether a text names more than one address. */
export const isManyAddresses = (element: string): boolean => {
  const span = spanOf(element);
  return span !== undefined && (span.from !== span.to || element.includes('/'));
};

/** Whether two texts name the same addresses: `10.0.0.7/24` is `10.0.0.0/24`. */
export const isSameSpan = (one: string, other: string): boolean => {
  const [a, b] = [spanOf(one), spanOf(other)];
  return !a || !b ? one === other : a.bits === b.bits && a.from === b.from && a.to === b.to;
};

/** Whether every address of an element is one of the members, or in one of them. */
export const isCovered = (element: string, members: readonly string[]): boolean => {
  const wanted = spanOf(element);
  if (!wanted) return false;
  const spans = members
    .map(spanOf)
    .filter(span => span?.bits === wanted.bits)
    .sort((a, b) => (a && b && a.from < b.from ? -1 : 1));
  let next = wanted.from;
  for (const span of spans) if (span && span.from <= next && span.to >= next) next = span.to + 1n;
  return next > wanted.to;
};
