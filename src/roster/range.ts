import type { Data, Dict } from '../data/values/value.ts';
import { isDict } from '../data/values/value.ts';
import { type SourceLocation, TsaltError } from '../protocol/error.ts';

/** A range in an id: `web[01:20]`. Leading zeros fix the width. */
const range = /\[(\d{1,9}):(\d{1,9})\]/;

const most = 10_000;

/**
 * Expands `web[01:20]` to `web01` to `web20`. The same range in the entry's address, such as `host:
 * web[01:20].example.com`, is expanded in parallel; without an address the id is the address.
 *
 * @param at the place of the id, for messages
 * @throws TsaltError `roster-range` for a range that goes down or has over 10,000 hosts
 */
export const expandEntry = (
  id: string,
  value: Data,
  at: SourceLocation,
): { readonly id: string; readonly value: Data }[] => {
  const [written, from, to] = range.exec(id) ?? [];
  if (written === undefined || from === undefined || to === undefined) return [{ id, value }];
  const [first, last] = [Number(from), Number(to)];
  if (last < first || last - first >= most)
    throw new TsaltError(
      'roster-range',
      `The range ${written} must go up, by at most ${most} hosts.`,
      {
        at,
      },
    );
  return Array.from({ length: last - first + 1 }, (_, step) => {
    const number = String(first + step).padStart(from.startsWith('0') ? from.length : 0, '0');
    return { id: id.replace(written, number), value: inAddress(value, written, number) };
  }).flatMap(one => expandEntry(one.id, one.value, at));
};

const inAddress = (value: Data, written: string, number: string): Data => {
  if (typeof value === 'string') return value.replace(written, number);
  if (!isDict(value)) return value;
  const host = value.get('host');
  if (typeof host !== 'string' || !host.includes(written)) return value;
  const entry: Dict = new Map(value);
  return entry.set('host', host.replace(written, number));
};
