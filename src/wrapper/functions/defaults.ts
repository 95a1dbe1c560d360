import { cloneData } from '../../data/values/clone.ts';
import { mergeRecursive, updateDict } from '../../data/values/merge.ts';
import { noValue, traverse } from '../../data/values/traverse.ts';
import { type Data, type Dict, isDict } from '../../data/values/value.ts';
import { TsaltError } from '../../protocol/error.ts';
import { loadYaml } from '../../yaml/load.ts';
import type { WrapperCall, WrapperModule } from '../define.ts';

const needDict = (value: Data, what: string): Dict => {
  if (isDict(value)) return value;
  throw new TsaltError('arguments', `${what} must be a dictionary.`);
};

/** Returns the target dictionary. None means an empty one, but cannot be changed in place. */
const target = ({ get, flag }: WrapperCall): Dict => {
  const given = get('dest');
  if (flag('in_place')) return needDict(given, 'dest');
  if (given === null && flag('convert_none')) return new Map();
  return cloneData(needDict(given, 'dest')) as Dict;
};

const dictOr = (value: Data, { flag }: WrapperCall, what: string): Dict =>
  value === null && flag('convert_none') ? new Map() : needDict(value, what);

/** `defaults.*`: formula defaults. (salt.modules.defaults) */
export const defaults: WrapperModule = {
  doc: 'Defaults of a formula: `defaults.yaml` or `defaults.json` beside its SLS.',
  functions: {
    get: {
      doc: 'The default at `formula:path`, read from `salt://formula/defaults.yaml` (or .json).',
      params: ['key', ['default', '']],
      work: async ({ ctx, get, text }) => {
        const [formula = '', ...path] = text('key').split(':');
        const stored = await readDefaults(ctx.readFile, formula);
        if (path.length === 0) return stored;
        const found = traverse(stored, path.join(':'), ':');
        return found === noValue ? get('default') : found;
      },
    },
    merge: {
      doc: 'Merges a dictionary into another: the second wins. `in_place` changes the first itself.',
      params: ['dest', 'src', ['merge_lists', false], ['in_place', true], ['convert_none', true]],
      work: call =>
        updateDict(target(call), dictOr(call.get('src'), call, 'src'), call.flag('merge_lists')),
    },
    deepcopy: {
      doc: 'A copy that shares nothing with the original.',
      params: ['source'],
      work: ({ get }) => cloneData(get('source')),
    },
    update: {
      doc: 'Merges defaults below each dictionary of a dictionary.',
      params: [
        'dest',
        'defaults',
        ['merge_lists', true],
        ['in_place', true],
        ['convert_none', true],
      ],
      work: call => {
        const nodes = target(call);
        const below = dictOr(call.get('defaults'), call, 'defaults');
        for (const [name, node] of nodes)
          nodes.set(
            name,
            mergeRecursive(below, dictOr(node, call, String(name)), call.flag('merge_lists')),
          );
        return nodes;
      },
    },
  },
};

const readDefaults = async (
  read: (path: string) => Promise<string | undefined>,
  formula: string,
): Promise<Data> => {
  for (const name of ['defaults.yaml', 'defaults.json']) {
    const path = `${formula}/${name}`;
    const text = await read(path);
    if (text !== undefined) return loadYaml(text, { file: path }) ?? new Map();
  }
  return null;
};
