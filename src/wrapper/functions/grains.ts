import { missing, traverse } from '../../data/traverse.ts';
import type { Data } from '../../data/value.ts';
import { isDict } from '../../data/value.ts';
import type { WrapperModule } from '../define.ts';
import { filterBy } from './filter-by.ts';

const isSet = (value: Data | typeof missing): boolean =>
  typeof value === 'symbol'
    ? false
    : Array.isArray(value)
      ? value.length > 0
      : isDict(value)
        ? value.size > 0
        : Boolean(value);

/**
 * What templates ask of grains most: answered from what the host said at hello, without a
 * round trip. Everything else of `grains.*` runs on the host.
 */
export const grains: WrapperModule = {
  doc: 'The grains of a host, as it told them when it answered.',
  functions: {
    get: {
      doc: "The grain at a path, or the default. `salt['grains.get']('os_family', 'Debian')`",
      params: ['key', ['default', ''], ['delimiter', ':'], ['ordered', true]],
      work: ({ ctx, get, text }) => {
        const found = traverse(ctx.grains, text('key'), text('delimiter'));
        return found === missing ? get('default') : found;
      },
    },
    has_value: {
      doc: 'Whether a grain is there and not empty.',
      params: ['key'],
      work: ({ ctx, text }) => isSet(traverse(ctx.grains, text('key'), ':')),
    },
    items: {
      doc: 'All grains.',
      params: [['sanitize', false]],
      work: ({ ctx }) => ctx.grains,
    },
    item: {
      doc: 'Some grains by name: `grains.item os osrelease`.',
      params: [],
      rest: true,
      anyKeyword: true,
      work: ({ ctx, rest, extra }) =>
        new Map(
          rest.map(key => {
            const found = traverse(ctx.grains, String(key), ':');
            return [String(key), found === missing ? (extra.get('default') ?? '') : found];
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
        return found === missing ? get('default') : found;
      },
    },
    equals: {
      doc: 'Whether the grain at a path has this value.',
      params: ['key', 'value'],
      work: ({ ctx, get, text }) =>
        String(traverse(ctx.grains, text('key'), ':')) === String(get('value')),
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
