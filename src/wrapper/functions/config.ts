import { mergeRecursive } from '../../data/merge.ts';
import { missing, traverse } from '../../data/traverse.ts';
import { type Data, type Dict, isDict } from '../../data/value.ts';
import type { WrapperContext } from '../context.ts';
import { isTrue, type WrapperModule } from '../define.ts';

const sources = async (ctx: WrapperContext, omit: (name: string) => boolean): Promise<Dict[]> => [
  ...(omit('omit_opts') ? [] : [ctx.opts]),
  ...(omit('omit_grains') ? [] : [ctx.grains]),
  ...(omit('omit_pillar') ? [] : [await ctx.pillar()]),
  ...(omit('omit_master') ? [] : [ctx.masterOpts]),
];

const lookUp = async (
  ctx: WrapperContext,
  key: string,
  delimiter: string,
  omit: (name: string) => boolean,
): Promise<Data[]> =>
  (await sources(ctx, omit))
    .map(source => {
      const direct = source.get(key);
      return direct !== undefined ? direct : traverse(source, key, delimiter);
    })
    .filter(found => found !== missing);

const omissions = ['omit_opts', 'omit_grains', 'omit_pillar', 'omit_master'].map(
  name => [name, false] as const,
);

/** `config.*`: options, grains and pillar through one door, in Salt's order. */
export const config: WrapperModule = {
  doc: 'Values from the configuration: minion options, then grains, then pillar, then tsalt.yaml.',
  functions: {
    get: {
      doc: "The first value found for a key. `salt['config.get']('nginx:port', 80)`",
      params: ['key', ['default', ''], ['delimiter', ':'], ['merge', null], ...omissions],
      work: async ({ ctx, get, text, flag }) => {
        const found = await lookUp(ctx, text('key'), text('delimiter'), flag);
        const strategy = get('merge');
        if (strategy === null || strategy === false) return found[0] ?? get('default');
        const dicts = found.filter(isDict).reverse();
        if (dicts.length === 0) return found[0] ?? get('default');
        const start = isDict(get('default')) ? [get('default') as Dict] : [];
        return [...start, ...dicts].reduce((below, above) =>
          strategy === 'overwrite'
            ? new Map([...below, ...above])
            : mergeRecursive(below, above, false),
        );
      },
    },
    option: {
      doc: 'The value of one key, from options, grains, pillar and tsalt.yaml; no path.',
      params: ['value', ['default', ''], ...omissions, ['wildcard', false]],
      work: async ({ ctx, get, text, flag }) =>
        (await sources(ctx, flag))
          .map(source => source.get(text('value')))
          .find(item => item !== undefined) ?? get('default'),
    },
    merge: {
      doc: 'All values of a key, merged: options over grains over pillar over tsalt.yaml.',
      params: ['value', ['default', ''], ...omissions],
      work: async ({ ctx, get, text, flag }) => {
        const found = (await sources(ctx, flag))
          .map(source => source.get(text('value')))
          .filter(item => item !== undefined);
        const first = found[0];
        if (first === undefined) return get('default');
        if (Array.isArray(first)) return found.filter(Array.isArray).flat();
        if (!isDict(first)) return first;
        return found
          .filter(isDict)
          .reduceRight((below, above) => new Map([...below, ...above]), new Map() as Dict);
      },
    },
    dot_vals: {
      doc: 'All values whose key begins with `name.`.',
      params: ['value'],
      work: async ({ ctx, text }) => {
        const found: Dict = new Map();
        for (const source of [await ctx.pillar(), ctx.opts])
          for (const [key, item] of source)
            if (String(key).startsWith(`${text('value')}.`)) found.set(key, item);
        return found;
      },
    },
    items: { doc: 'All options of the run.', params: [], work: ({ ctx }) => ctx.opts },
    manage_mode: {
      doc: 'A file mode as text with leading zero, as states write it.',
      params: ['mode'],
      work: ({ get }) => {
        const mode = get('mode');
        if (mode === null) return null;
        const text = typeof mode === 'number' ? String(mode) : String(mode).replace(/['"]/g, '');
        return text.length === 4 ? text : text.padStart(4, '0').slice(-4);
      },
    },
    backup_mode: {
      doc: 'The backup mode: the argument, or the option `backup_mode`.',
      params: [['backup', '']],
      work: ({ ctx, get }) =>
        isTrue(get('backup')) || get('backup') !== ''
          ? get('backup')
          : (ctx.opts.get('backup_mode') ?? ''),
    },
    valid_fileproto: {
      doc: 'Whether a URL has a scheme that file states can read.',
      params: ['uri'],
      work: ({ text }) => /^(?:salt|https?|ftp|file|s3|swift):\/\//.test(text('uri')),
    },
  },
};
