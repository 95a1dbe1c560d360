import { isFalsy } from '../../compiler/high.ts';
import { brokenPillar } from '../../compiler/pillar.ts';
import { cloneData } from '../../data/values/clone.ts';
import { joinLists, mergeRecursive } from '../../data/values/merge.ts';
import { noValue, traverse } from '../../data/values/traverse.ts';
import { type Data, type Dict, isDict } from '../../data/values/value.ts';
import { TsaltError } from '../../protocol/error.ts';
import type { WrapperContext } from '../context.ts';
import type { WrapperCall, WrapperFunction, WrapperModule } from '../define.ts';
import { isTrueArgument } from '../define.ts';
import { type Outcome, valueOutcome } from '../outcome.ts';
import { pillarSettingsOf } from '../pillar-settings.ts';

const delimiter = ['delimiter', ':'] as const;
const environment = ['pillarenv', 'saltenv'] as const;

const get: WrapperFunction = {
  doc: "The value at a path, or the default. `salt['pillar.get']('pkg:apache', 'httpd')`",
  params: [
    'key',
    ['default', ''],
    ['merge', false],
    ['merge_nested_lists', null],
    delimiter,
    ['pillarenv', null],
    ['saltenv', null],
  ],
  work: async ({ ctx, get, text, flag }) => {
    const pillarData = await pillarOf(ctx, get);
    const fallback = get('default');
    const found = traverse(pillarData, text('key'), text('delimiter'));
    if (!flag('merge')) {
      if (
        found === noValue &&
        isTrueArgument(ctx.opts.get('pillar_raise_on_missing') ?? false) &&
        fallback === ''
      )
        throw new TsaltError('pillar-missing', `Pillar key not found: ${text('key')}`, {
          kind: 'render',
        });
      return found === noValue ? fallback : found;
    }
    const nested = get('merge_nested_lists');
    const joins = nested === null ? ctx.config.pillar_merge_lists : isTrueArgument(nested);
    return merged(found, fallback, joins);
  },
};

const keyword =
  ({ extra }: WrapperCall) =>
  (name: string): Data =>
    extra.get(name) ?? null;

/** Returns the values at the paths in a call. */
const selected = async (call: WrapperCall): Promise<Dict> => {
  const { ctx, rest, extra } = call;
  const all = await pillarOf(ctx, keyword(call));
  const between = String(extra.get('delimiter') ?? ':');
  return new Map(
    rest.map(key => {
      const found = traverse(all, String(key), between);
      return [String(key), found === noValue ? (extra.get('default') ?? '') : found];
    }),
  );
};

/** Shows the whole pillar or the selected values, converted by `view`. */
const shown =
  (view: (pillar: Dict) => Data) =>
  async (call: WrapperCall): Promise<Data | Outcome> => {
    if (call.rest.length > 0) return view(await selected({ ...call, extra: new Map() }));
    const get = keyword(call);
    try {
      return view(await pillarOf(call.ctx, get, get('pillar')));
    } catch (error) {
      // As in Salt, the pillar is shown with its errors under `_errors`: nothing is run with it.
      const broken = brokenPillar(error);
      if (!broken) throw error;
      return { ...valueOutcome(view(broken.pillar)), problems: broken.problems };
    }
  };

const items: WrapperFunction = {
  doc: 'The whole pillar, compiled again: `pillar` overrides values, `pillarenv` and `saltenv` choose an environment. With paths, only those values, as in pillar.item.',
  params: [],
  rest: true,
  keywords: [...environment, 'pillar'],
  work: shown(pillar => pillar),
};

/** `pillar.*`: pillar is compiled on the control node and stays there. */
export const pillar: WrapperModule = {
  doc: 'The pillar of a host. It is compiled on the control node; a host receives only what it requests.',
  functions: {
    get,
    fetch: get,
    items,
    data: items,
    item: {
      doc: 'Some values by path: `pillar.item roles pkg:apache default=x delimiter=:`.',
      params: [],
      rest: true,
      keywords: [...environment, 'default', 'delimiter'],
      work: selected,
    },
    raw: {
      doc: 'The pillar as it is held, or one top-level key of it.',
      params: [['key', null]],
      work: async ({ ctx, get }) => {
        const all = await ctx.pillar();
        const key = get('key');
        return isFalsy(key ?? null)
          ? all
          : all.has(key as string)
            ? (all.get(key as string) ?? null)
            : new Map();
      },
    },
    keys: {
      doc: 'The keys of a dictionary in the pillar.',
      params: ['key', delimiter],
      work: async ({ ctx, text }) => {
        const found = traverse(await ctx.pillar(), text('key'), text('delimiter'));
        if (found === noValue)
          throw new TsaltError('pillar-missing', `Pillar key not found: ${text('key')}`, {
            kind: 'render',
          });
        if (!isDict(found))
          throw new TsaltError('pillar-type', `Pillar value in key ${text('key')} is not a dict.`, {
            kind: 'render',
          });
        return [...found.keys()] as Data[];
      },
    },
    ls: {
      doc: 'The top-level keys of the pillar.',
      params: [],
      rest: true,
      work: shown(pillar => [...pillar.keys()] as Data[]),
    },
    obfuscate: {
      doc: 'The pillar, or some values of it by path, with every value replaced by its type: safe to show.',
      params: [],
      rest: true,
      keywords: [...environment, 'default', 'delimiter', 'pillar'],
      work: shown(pillar => obfuscate(pillar)),
    },
    ext: {
      doc: 'The pillar with one more external source merged over it.',
      params: ['external', ['pillar', null]],
      work: async ({ ctx, get }) => {
        const external = get('external');
        if (isDict(external)) return ctx.extPillar(external);
        throw new TsaltError(
          'arguments',
          'pillar.ext takes a dictionary: a source and its settings.',
          {
            hint: "Write it as YAML: pillar.ext '{cmd_json: ./script %s}'.",
          },
        );
      },
    },
    file_exists: {
      doc: 'Whether a file exists in the pillar roots.',
      params: ['path', ['saltenv', null]],
      work: ({ ctx, text, get }) => ctx.pillarFileExists(text('path'), saltenvOf(get('saltenv'))),
    },
    filter_by: {
      doc: 'Picks from a dictionary by a pillar value; see grains.filter_by.',
      params: [
        'lookup_dict',
        ['pillar', 'id'],
        ['merge', null],
        ['default', 'default'],
        ['base', null],
      ],
      work: async ({ ctx, get, text }) => {
        const { filterBy } = await import('./filter-by.ts');
        return filterBy({
          lookup: get('lookup_dict'),
          value: traverse(await ctx.pillar(), text('pillar'), ':'),
          merge: get('merge'),
          fallback: get('default'),
          base: get('base'),
        });
      },
    },
  },
};

const saltenvOf = (value: Data): string => (typeof value === 'string' ? value : 'base');

/** Returns this run's pillar, or another if the call names an environment or values. */
const pillarOf = (
  ctx: WrapperContext,
  get: (name: string) => Data,
  override: Data = null,
): Promise<Dict> => {
  const [pillarenv, saltenv] = [get('pillarenv'), get('saltenv')];
  if (pillarenv === null && saltenv === null && override === null) return ctx.pillar();
  const call: Dict = new Map<string, Data>([
    ['pillarenv', pillarenv],
    ['saltenv', saltenv],
    ['pillar', override],
  ]);
  return ctx.compilePillar(pillarSettingsOf(call, ctx.masterOpts));
};

/** Merges the default with the value, if both are dictionaries or both are lists. */
const merged = (found: Data | typeof noValue, fallback: Data, joinsLists: boolean): Data => {
  if (found === noValue)
    return isDict(fallback) || Array.isArray(fallback) ? cloneData(fallback) : fallback;
  if (isDict(fallback) && isDict(found)) return mergeRecursive(fallback, found, joinsLists);
  if (Array.isArray(fallback) && Array.isArray(found))
    return joinLists(cloneData(fallback) as Data[], found);
  return found;
};

const obfuscate = (value: Data): Data => {
  if (isDict(value)) return new Map([...value].map(([key, item]) => [key, obfuscate(item)]));
  if (Array.isArray(value)) return value.map(obfuscate);
  return `<${value === null ? 'NoneType' : typeof value === 'string' ? 'str' : typeof value === 'boolean' ? 'bool' : Number.isInteger(value) || typeof value === 'bigint' ? 'int' : 'float'}>`;
};
