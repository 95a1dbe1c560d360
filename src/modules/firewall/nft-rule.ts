import { internalKeywords } from '../../protocol/state-keywords.ts';
import { toList } from '../_shared/states/values.ts';
import { plainStr } from '../_shared/text/python-text.ts';
import { type Plain, type PlainDict, SaltInvocationError } from '../api.ts';

/** Arguments of the state, and arguments of iptables that nftables does not need. */
const notRule = ['chain', 'match', 'name', 'position', 'save', 'state', 'table'];

/** Verdicts and statements that end a rule without the name of a chain. */
const verdicts = /^(?:accept|drop|reject|return|queue|continue|masquerade|redirect|log|notrack)$/;

/**
 * Converts Salt's arguments to a rule in nft's language: `{proto: tcp, dport: 22, jump: accept}`
 * becomes `tcp dport { 22 } accept`.
 *
 * @param family as nft calls it
 */
export const nftRuleText = (given: PlainDict, family: string): string => {
  const rest = new Map(
    Object.entries(given).filter(
      ([key, value]) => !notRule.includes(key) && !internalKeywords.has(key) && value !== undefined,
    ),
  );
  const take = (...keys: string[]): string | undefined => {
    const found = keys.find(key => rest.has(key));
    const value = found === undefined ? undefined : rest.get(found);
    for (const key of keys) rest.delete(key);
    return value === undefined || value === null ? undefined : textOf(value);
  };
  const parts: string[] = [];
  const put = (text: string, value: string | undefined): void => {
    if (value !== undefined) parts.push(text.replace('%', () => value));
  };
  put('meta iifname %', take('if'));
  put('meta oifname %', take('of'));
  const proto = take('proto', 'protocol');
  put('ct state { % }', take('connstate')?.toLowerCase());
  put(`${family === 'ip6' ? 'icmpv6' : 'icmp'} type { % }`, take('icmp-type'));
  put('meta pkttype { % }', take('pkttype'));
  const isCounted = take('counter');
  if (isCounted !== undefined && isCounted !== 'False') parts.push('counter');
  for (const [side, long] of [
    ['saddr', 'source'],
    ['daddr', 'destination'],
  ] as const) {
    const address = take(side, long);
    put(`${family === 'ip6' || address?.includes(':') ? 'ip6' : 'ip'} ${side} %`, address);
  }
  const ports = (['dport', 'sport'] as const).flatMap(key => {
    const found = [take(key)?.replaceAll(':', '-'), sorted(take(`${key}s`))];
    return found.flatMap(value => (value === undefined ? [] : [`${key} { ${value} }`]));
  });
  if (ports.length > 0 && proto === undefined)
    throw new SaltInvocationError('proto must be specified with dport, sport, dports and sports.');
  for (const port of ports) parts.push(`${proto} ${port}`);
  if (ports.length === 0) put('meta l4proto %', proto);
  parts.push(...targetOf(take));
  const unknown = [...rest.keys()];
  if (unknown.length > 0)
    throw new SaltInvocationError(`nftables takes no argument ${unknown.join(', ')} for a rule.`);
  const text = parts.join(' ');
  if (/[\n;]/.test(text))
    throw new SaltInvocationError(`A rule of nftables must be one statement: ${text}`);
  return text;
};

const textOf = (value: Plain): string =>
  Array.isArray(value) ? toList(value).join(', ') : plainStr(value);

const sorted = (ports: string | undefined): string | undefined =>
  ports === undefined
    ? undefined
    : toList(ports)
        .map(port => port.replaceAll(':', '-'))
        .sort((left, right) => Number.parseInt(right, 10) - Number.parseInt(left, 10))
        .join(', ');

/** Returns the rule's statement for `jump` and the arguments that belong to it. */
const targetOf = (take: (...keys: string[]) => string | undefined): string[] => {
  const jump = take('jump', 'j', 'target');
  const port = take('redirect-to', 'to-port', 'to-ports');
  const [source, destination] = [take('to-source'), take('to-destination')];
  const reason = take('reject-with');
  if (port !== undefined) return [`redirect to ${/^\d/.test(port) ? `:${port}` : port}`];
  if (source !== undefined) return [`snat to ${source}`];
  if (destination !== undefined) return [`dnat to ${destination}`];
  if (reason !== undefined) return [`reject with ${reason}`];
  if (jump === undefined) return [];
  if (verdicts.test(jump.toLowerCase())) return [jump.toLowerCase()];
  return [/\s/.test(jump) ? jump : `jump ${jump}`];
};
