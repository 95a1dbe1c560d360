import { invalidKeywords, nearestHint } from '../data/bind.ts';
import { mayBeCalled } from '../data/module-names.ts';
import { nearest } from '../data/nearest.ts';
import { TsaltError } from '../protocol/error.ts';
import type { LowChunk } from '../protocol/low.ts';
import type { FunctionMeta, ModuleMeta } from '../protocol/meta.ts';
import { isPlainDict } from '../protocol/plain.ts';
import { internalKeywords } from '../protocol/state-keywords.ts';
import { mergeDicts, withWholeFloatsOf } from '../protocol/whole-floats.ts';
import { withFloatTexts } from './float-arguments.ts';

type BoundChunks = {
  readonly chunks: readonly LowChunk[];
  /** One sentence for each argument that nothing looks at. */
  readonly warnings: readonly string[];
};

/**
 * Chunks as their functions take them. An argument that a function does not have is refused, all
 * of them at once and before anything runs: Salt notices only when it reaches the state, and loses
 * what ran before. Where the function is marked `@unknown`, as those are that take any argument
 * without a word in Salt, it is left out with a warning, or becomes a variable of the template. Functions that no module, or several, offer are left to
 * the host.
 *
 * @throws TsaltError naming every argument that is refused
 */
export const bindChunks = (
  chunks: readonly LowChunk[],
  modules: readonly ModuleMeta[],
): BoundChunks => {
  const functions = functionsOf(chunks, modules);
  const bound: LowChunk[] = [];
  const faults: string[] = [];
  const warnings: string[] = [];
  for (const given of chunks) {
    const name = `${given.state}.${given.fun}`;
    const fun = functions.get(name);
    const chunk = withFloatTexts(given, fun);
    if (!functions.has(name)) warnings.push(...misspelt(name, chunk, modules));
    const unknown = fun ? unknownArguments(chunk, fun) : [];
    if (!fun || unknown.length === 0) {
      bound.push(chunk);
      continue;
    }
    if (!fun.unknown) {
      const hint = nearestHint(fun.signature, unknown);
      faults.push(`${invalidKeywords(name, unknown)}${hint}, ${placeOf(chunk)}`);
      continue;
    }
    const asVariables = fun.unknown === 'variables' && typeof chunk.template === 'string';
    warnings.push(
      ...unknown
        .flatMap(key => warningFor(key, name, fun, asVariables))
        .map(warning => `${warning}, ${placeOf(chunk)}.`),
    );
    bound.push(without(chunk, unknown, asVariables));
  }
  if (faults.length > 0)
    throw new TsaltError('state-arguments', faults.join('\n'), { kind: 'render' });
  return { chunks: bound, warnings };
};

/** Functions of the states that are used, where just one module has them. */
const functionsOf = (
  chunks: readonly LowChunk[],
  modules: readonly ModuleMeta[],
): Map<string, FunctionMeta | undefined> => {
  const functions = new Map<string, FunctionMeta | undefined>();
  const used = new Set(chunks.map(({ state }) => state));
  for (const module of modules) {
    const own = module.virtualname ?? module.file;
    if (module.kind !== 'state' || !used.has(own)) continue;
    for (const meta of module.functions) {
      const name = `${own}.${meta.name}`;
      functions.set(name, functions.has(name) ? undefined : meta);
    }
  }
  return functions;
};

/** A state whose function no module has fails on the host; a slip of the pen is told before. */
const misspelt = (name: string, chunk: LowChunk, modules: readonly ModuleMeta[]): string[] => {
  const states = modules.filter(({ kind }) => kind === 'state');
  if (modules.some(module => !module.builtin && mayBeCalled(module, chunk.state))) return [];
  const meant = nearest(
    name,
    states.flatMap(module =>
      module.functions.map(fun => `${module.virtualname ?? module.file}.${fun.name}`),
    ),
  );
  return meant === undefined
    ? []
    : [`There is no state function '${name}' (did you mean '${meant}'?), ${placeOf(chunk)}.`];
};

const unknownArguments = (chunk: LowChunk, { signature }: FunctionMeta): string[] => {
  if (signature.anyKeyword) return [];
  const known = [...signature.positional, ...(signature.keywords ?? [])].map(({ name }) => name);
  return Object.keys(chunk).filter(key => !internalKeywords.has(key) && !known.includes(key));
};

/** Variables of a template are what they should be, unless an argument was meant. */
const warningFor = (
  key: string,
  name: string,
  { signature }: FunctionMeta,
  asVariable: boolean,
): string[] => {
  const hint = nearestHint(signature, [key]);
  if (!asVariable) return [`'${key}' is no argument of '${name}' and is ignored${hint}`];
  return hint === '' ? [] : [`'${key}' of '${name}' is a variable of its template${hint}`];
};

const without = (chunk: LowChunk, keys: readonly string[], asVariables: boolean): LowChunk => {
  const kept: LowChunk = { ...chunk };
  for (const key of keys) delete kept[key];
  const defaults = chunk.defaults ?? {};
  if (!asVariables || !isPlainDict(defaults)) return kept;
  const variables = Object.fromEntries(keys.map(key => [key, chunk[key] ?? null]));
  return { ...kept, defaults: mergeDicts(withWholeFloatsOf(chunk, variables), defaults) };
};

const placeOf = ({ __sls__, __id__ }: LowChunk): string => `in SLS '${__sls__}', ID '${__id__}'`;
