import { splitFunctionName } from '../../data/signatures/function-name.ts';
import { mayBeCalled } from '../../data/signatures/module-names.ts';
import type { LowChunk } from '../../protocol/low.ts';
import type { ModuleMeta } from '../../protocol/meta.ts';
import {
  isPlainDict,
  type Plain,
  type PlainDict,
  plainText,
  setOwn,
} from '../../protocol/plain.ts';
import { internalKeywords } from '../../protocol/state-keywords.ts';
import { mergeWholeFloats } from '../../protocol/whole-floats.ts';

/** A call of an execution function. */
export type ModuleCall = {
  readonly fun: string;
  readonly args: readonly Plain[];
  readonly kwargs: PlainDict;
};

/**
 * Returns the calls of `module.run` and similar states, with the arguments that the chunk states.
 */
export const callsOf = (chunk: LowChunk): ModuleCall[] => {
  if (chunk.state !== 'module') return [];
  const keys = Object.keys(chunk).filter(key => key.includes('.') && !internalKeywords.has(key));
  if (keys.length > 0)
    return keys.map(key => ({ fun: key.split(':')[0] ?? key, ...argumentsIn(chunk[key] ?? null) }));
  const { name, args, kwargs, ...others } = chunk;
  const own = Object.fromEntries(
    Object.entries(others)
      .filter(([key]) => !internalKeywords.has(key) && !/^__|^(?:state|fun|order)$/.test(key))
      .map(([key, value]) => [key.replace(/^m_/, ''), value as Plain]),
  );
  return [
    {
      fun: plainText(name),
      args: Array.isArray(args) ? args : [],
      kwargs: { ...own, ...(isPlainDict(kwargs) ? kwargs : {}) },
    },
  ];
};

/** A list of arguments: dictionaries hold named ones. */
const argumentsIn = (value: Plain): Omit<ModuleCall, 'fun'> => {
  const items = [value].flat();
  return {
    args: items.filter(item => !isPlainDict(item) && item !== null),
    kwargs: mergeWholeFloats(...items.filter(isPlainDict)),
  };
};

/** Sorts the arguments of a call by parameter; undefined if the function does not exist. */
export const namedArguments = (
  { fun, args, kwargs }: ModuleCall,
  modules: readonly ModuleMeta[],
): { named: PlainDict; extra: PlainDict } | undefined => {
  const [module, name = ''] = splitFunctionName(fun);
  const found = modules
    .filter(item => item.kind === 'exec' && mayBeCalled(item, module))
    .flatMap(({ functions }) => functions)
    .find(item => item.name === name);
  if (!found) return undefined;
  const { positional, keywords = [] } = found.signature;
  const names = [...positional, ...keywords].map(param => param.name);
  const named: PlainDict = {};
  args.forEach((value, at) => setOwn(named, names[at] ?? `${at}`, value));
  const extra: PlainDict = {};
  for (const [key, value] of Object.entries(kwargs))
    setOwn(names.includes(key) ? named : extra, key, value);
  return { named, extra };
};
