import { cloneData } from '../../data/clone.ts';
import { mergeRecursive } from '../../data/merge.ts';
import { missing, traverse } from '../../data/traverse.ts';
import { type Data, type Dict, isDict } from '../../data/value.ts';
import { TsaltError } from '../../protocol/error.ts';
import { loadYaml } from '../../yaml/load.ts';
import { isTrue, type WrapperModule } from '../define.ts';

const needDict = (value: Data, what: string): Dict => {
  if (isDict(value)) return value;
  throw new TsaltError('arguments', `${what} must be a dictionary.`);
};

/** Puts the keys of `source` into `target` itself: templates count on the change in place. */
const replaceContent = (target: Dict, source: Dict): Dict => {
  target.clear();
  for (const [key, value] of source) target.set(key, value);
  return target;
};

/** `defaults.*`: formula defaults, overridden by pillar. */
export const defaults: WrapperModule = {
  doc: 'Defaults of a formula (`defaults.yaml` or `defaults.json` beside its SLS), overridden by pillar.',
  functions: {
    get: {
      doc: 'The default at `formula:path`, read from `salt://formula/defaults.yaml`, pillar over it.',
      params: ['key', ['default', '']],
      work: async ({ ctx, get, text }) => {
        const [formula = '', ...path] = text('key').split(':');
        const stored = await readDefaults(ctx.readFile, formula);
        const fromPillar = traverse(await ctx.pillar(), text('key'), ':');
        const fromFile = stored ? traverse(stored, path.join(':'), ':') : missing;
        if (isDict(fromFile as Data) && isDict(fromPillar as Data))
          return mergeRecursive(fromFile as Dict, fromPillar as Dict, false);
        if (fromPillar !== missing) return fromPillar;
        return fromFile === missing ? get('default') : fromFile;
      },
    },
    merge: {
      doc: 'Merges a dictionary into another: the second wins. `in_place` changes the first itself.',
      params: ['dest', 'src', ['merge_lists', false], ['in_place', true], ['convert_none', true]],
      work: ({ get, flag }) => {
        const dest =
          get('dest') === null && flag('convert_none') ? new Map() : needDict(get('dest'), 'dest');
        const src =
          get('src') === null && flag('convert_none') ? new Map() : needDict(get('src'), 'src');
        const result = mergeRecursive(cloneData(dest) as Dict, src, flag('merge_lists'));
        return flag('in_place') ? replaceContent(dest, result as Dict) : result;
      },
    },
    deepcopy: {
      doc: 'A copy that shares nothing with the original.',
      params: ['source'],
      work: ({ get }) => cloneData(get('source')),
    },
    update: {
      doc: 'Lays defaults below each dictionary of a dictionary.',
      params: [
        'dest',
        'defaults',
        ['merge_lists', true],
        ['in_place', true],
        ['convert_none', true],
      ],
      work: ({ get, flag }) => {
        const dest = needDict(get('dest') ?? new Map(), 'dest');
        const base = needDict(get('defaults') ?? new Map(), 'defaults');
        const result: Dict = new Map();
        for (const [key, item] of dest)
          result.set(
            key,
            mergeRecursive(
              cloneData(base) as Dict,
              isDict(item) ? item : new Map(),
              isTrue(get('merge_lists')),
            ),
          );
        return flag('in_place') ? replaceContent(dest, result) : result;
      },
    },
  },
};

const readDefaults = async (
  read: (path: string) => Promise<string | undefined>,
  formula: string,
): Promise<Data | undefined> => {
  for (const name of ['defaults.yaml', 'defaults.json']) {
    const path = `${formula.replaceAll('.', '/')}/${name}`;
    const text = await read(path);
    if (text !== undefined) return loadYaml(text, { file: path });
  }
  return undefined;
};
