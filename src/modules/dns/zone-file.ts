import type { PlainDict } from '../../protocol/plain.ts';
import { setOwn } from '../../protocol/plain.ts';
import { CommandExecutionError } from '../api.ts';

const week = 604_800;

/**
 * Converts a time in a zone file (`2H`, `1D`) to seconds: at most a week, which is also the value
 * for invalid times.
 */
const seconds = (time: string): number => {
  const [, count = '', unit = ''] = /^([+-]?\d+)([HD]?)$/.exec(time.toUpperCase()) ?? [];
  if (count === '') return week;
  return Math.min(Number(count) * ({ H: 3600, D: 86_400 }[unit] ?? 1), week);
};

/** Splits a zone file into records, without comments and with parenthesized lines joined. */
const records = (text: string): string[] => {
  const found: string[] = [];
  let open: string | undefined;
  for (const raw of text.split(/\r\n|\r|\n/)) {
    const line = (raw.split(';')[0] ?? '').trim();
    if (line === '') continue;
    if (open === undefined && line.includes('(') && !line.includes(')')) open = '';
    if (open === undefined) {
      found.push(line);
      continue;
    }
    open += ` ${line}`;
    if (!line.includes(')')) continue;
    found.push(open.replace(/[()]/g, ''));
    open = undefined;
  }
  return found;
};

/**
 * Returns the records of a zone file in the format of Salt's dnsutil.parse_zone: settings (`$TTL`)
 * and parts of the SOA by name, `NS` and `MX` as lists, all other types as dicts by host name.
 *
 * @throws CommandExecutionError naming a record that makes no sense
 */
export const parseZone = (text: string): PlainDict => {
  const zone: PlainDict = {};
  for (const line of records(text)) {
    if (line.startsWith('$')) {
      const [key = '', value] = words(line);
      setOwn(zone, key.replaceAll('$', ''), part(value, line));
      continue;
    }
    const origin = zone.ORIGIN as string | undefined;
    const comps = words(origin === undefined ? line : line.replaceAll('@', origin));
    if (line.includes('SOA')) Object.assign(zone, startOfAuthority(comps, line));
    else addRecord(zone, comps, line);
  }
  return zone;
};

const words = (line: string): string[] => line.split(/\s+/).filter(Boolean);

const part = (value: string | undefined, line: string): string => {
  if (value !== undefined) return value;
  throw new CommandExecutionError(`This record of the zone makes no sense: ${line.trim()}`);
};

const startOfAuthority = (comps: string[], line: string): PlainDict => {
  if (comps[1] !== 'IN') comps.splice(1, 1);
  const [origin, network, , source, contact, serial, ...times] = comps;
  const [refresh, retry, expire, least] = times.map(seconds);
  part(times[3], line);
  return {
    ORIGIN: part(origin, line),
    NETWORK: part(network, line),
    SOURCE: part(source, line),
    CONTACT: part(contact, line).replace('.', '@'),
    SERIAL: part(serial, line),
    REFRESH: refresh as number,
    RETRY: retry as number,
    EXPIRE: expire as number,
    MINTTL: least as number,
  };
};

const addRecord = (zone: PlainDict, comps: string[], line: string): void => {
  const origin = (): string => part(zone.ORIGIN as string | undefined, line);
  if (comps[0] === 'IN') comps.unshift(origin());
  const [first, ttl, type, value, target] = comps;
  let host = part(first, line);
  if (!host.endsWith('.') && !line.includes('NS')) host = `${host}.${origin()}`;
  if (type === 'NS') (ownList(zone, 'NS') as string[]).push(part(value, line));
  else if (type === 'MX') {
    if (!Object.hasOwn(zone, 'MX'))
      ownList(zone, 'MX').push({ priority: part(value, line), host: part(target, line) });
  } else if (part(value, line) === 'A' || value === 'AAAA')
    setOwn(ownDict(zone, value as string), host, {
      TARGET: part(target, line),
      TTL: part(ttl, line),
    });
  else setOwn(ownDict(zone, part(type, line)), host, part(value, line));
};

const ownList = (zone: PlainDict, key: string): unknown[] => {
  if (!Object.hasOwn(zone, key)) setOwn(zone, key, []);
  return zone[key] as unknown[];
};

const ownDict = (zone: PlainDict, key: string): PlainDict => {
  if (!Object.hasOwn(zone, key)) setOwn(zone, key, {});
  return zone[key] as PlainDict;
};
