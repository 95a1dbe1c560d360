import { pyStr } from '../../data/python/python-text.ts';
import { noValue, traverse } from '../../data/values/traverse.ts';
import type { Data, DataKey } from '../../data/values/value.ts';
import { isDict } from '../../data/values/value.ts';
import { isTrueArgument, type WrapperModule } from '../define.ts';
import { filterBy } from './filter-by.ts';

const isSet = (value: Data | typeof noValue): boolean =>
  typeof value === 'symbol'
    ? false
    : Array.isArray(value)
      ? value.length > 0
      : isDict(value)
        ? value.size > 0
        : Boolean(value);

/** The replacements of a host's names with `sanitize`, as in Salt. */
const namesHidden: Readonly<Record<string, string>> = {
  domain: 'DOMAINNAME',
  fqdn: 'MINION.DOMAINNAME',
  id: 'MINION.DOMAINNAME',
  host: 'MINION',
  localhost: 'MINION',
  nodename: 'MINION',
};

const sanitized = ([key, value]: readonly [DataKey, Data]): [DataKey, Data] => {
  const name = String(key);
  if (name === 'serialnumber') return [key, hiddenSerial(String(value))];
  return [key, Object.hasOwn(namesHidden, name) ? (namesHidden[name] ?? '') : value];
};

const hiddenSerial = (serial: string): string => {
  const shown = Math.floor(serial.length * 0.75);
  return serial.slice(0, shown) + 'X'.repeat(serial.length - shown);
};

/**
 * The functions of `grains.*` that templates use most: they read the grains of the hello, without a
 * round trip. All others run on the host.
 */
export const grains: WrapperModule = {
  doc: 'The grains of a host, as of its hello.',
  functions: {
    get: {
      doc: "The grain at a path, or the default. `salt['grains.get']('os_family', 'Debian')`",
      params: ['key', ['default', ''], ['delimiter', ':'], ['ordered', true]],
      work: ({ ctx, get, text }) => {
        const found = traverse(ctx.grains, text('key'), text('delimiter'));
        return found === noValue ? get('default') : found;
      },
    },
    has_value: {
      doc: 'Whether a grain exists and is not empty.',
      params: ['key'],
      work: ({ ctx, text }) => isSet(traverse(ctx.grains, text('key'), ':')),
    },
    items: {
      doc: 'All grains.',
      params: [['sanitize', false]],
      work: ({ ctx, flag }) =>
        flag('sanitize') ? new Map([...ctx.grains].map(sanitized)) : ctx.grains,
    },
    item: {
      doc: 'Some grains by name: `grains.item os osrelease`.',
      params: [],
      rest: true,
      keywords: ['default', 'delimiter', 'sanitize'],
      work: ({ ctx, rest, extra }) =>
        new Map(
          rest.map(key => {
            const delimiter = String(extra.get('delimiter') ?? ':');
            const found = traverse(ctx.grains, String(key), delimiter);
            const entry = [
              String(key),
              found === noValue ? (extra.get('default') ?? '') : found,
            ] as const;
            return isTrueArgument(extra.get('sanitize') ?? null) ? sanitized(entry) : entry;
          }),
        ),
    },
    ls: {
      doc: 'The names of all grains, sorted.',
      params: [],
      work: ({ ctx }) => [...ctx.grains.keys()].map(String).sort(),
    },
    fetch: {
      doc: 'The grain at a path, or the default; the same as grains.get.',
      params: ['key', ['default', ''], ['delimiter', ':'], ['ordered', true]],
      work: ({ ctx, get, text }) => {
        const found = traverse(ctx.grains, text('key'), text('delimiter'));
        return found === noValue ? get('default') : found;
      },
    },
    equals: {
      doc: 'Whether the grain at a path has this value.',
      params: ['key', 'value'],
      work: ({ ctx, get, text }) => {
        const found = traverse(ctx.grains, text('key'), ':');
        return pyStr(found === noValue ? '' : found) === pyStr(get('value'));
      },
    },
    filter_by: {
      doc: 'Picks from a dictionary by a grain, `os_family` unless another is named.',
      params: [
        'lookup_dict',
        ['grain', 'os_family'],
        ['merge', null],
        ['default', 'default'],
        ['base', null],
      ],
      work: ({ ctx, get, text }) =>
        filterBy({
          lookup: get('lookup_dict'),
          value: traverse(ctx.grains, text('grain'), ':'),
          merge: get('merge'),
          fallback: get('default'),
          base: get('base'),
        }),
    },
  },
};
