import { argumentPlace, statePlace } from '../../compiler/chunks.ts';
import { nearest } from '../../data/nearest.ts';
import { invalidKeywords, wrongTypes } from '../../data/signatures/bind.ts';
import { mayBeCalled } from '../../data/signatures/module-names.ts';
import { excerptAt } from '../../data/values/position.ts';
import { showPlace, TsaltError } from '../../protocol/error.ts';
import type { LowChunk } from '../../protocol/low.ts';
import type { FunctionMeta, FunctionSignature, ModuleMeta } from '../../protocol/meta.ts';
import { isPlainDict, type Plain } from '../../protocol/plain.ts';
import { internalKeywords } from '../../protocol/state-keywords.ts';
import { mergeWholeFloats, withWholeFloatsOf } from '../../protocol/whole-floats.ts';
import { meantArgument } from './argument-slips.ts';
import { withFloatTexts } from './float-arguments.ts';

type BoundChunks = {
  readonly chunks: readonly LowChunk[];
  /** One sentence for each argument that nothing looks at. */
  readonly warnings: readonly string[];
};

/**
 * Chunks as their functions take them, checked before anything runs on the host; Salt notices an
 * error only when it reaches the state.
 *
 * - An argument that the function does not have is refused, all of them at once. A function that
 *   is marked `@unknown`, as those are that take any argument without a word in Salt, ignores it
 *   with a warning or takes it as a variable of its template; but one that resembles an argument
 *   or a requisite was meant to be that, and is refused as well.
 * - A value of a wrong type is refused.
 *
 * `- lax: true` on a state accepts what resembles something. Functions that no module, or
 * several, offer are left to the host.
 *
 * @param isStrict refuse what a function would ignore, too (`--strict`)
 * @throws TsaltError `state-arguments` that names every argument that is refused, and its place
 */
export const bindChunks = (
  chunks: readonly LowChunk[],
  modules: readonly ModuleMeta[],
  isStrict = false,
): BoundChunks => {
  const functions = functionsOf(chunks, modules);
  const bound: LowChunk[] = [];
  const faults: string[] = [];
  const excerpts: (string | undefined)[] = [];
  const warnings: string[] = [];
  let hasSlip = false;
  for (const given of chunks) {
    const name = `${given.state}.${given.fun}`;
    const fun = functions.get(name);
    const chunk = withFloatTexts(given, fun);
    if (!functions.has(name)) warnings.push(...misspelt(name, given, modules));
    if (!fun) {
      bound.push(chunk);
      continue;
    }
    for (const { name: argument, message } of wrongTypes(fun.signature, chunk))
      if (!hasSlot(chunk[argument])) {
        faults.push(`'${name}': ${message}, ${placeOf(given, argument)}`);
        excerpts.push(excerptIn(given, argument));
      }
    const unknown = unknownArguments(chunk, fun);
    if (unknown.length > 0 && !fun.unknown) {
      const hint = hintFor(unknown, fun.signature);
      faults.push(`${invalidKeywords(name, unknown)}${hint}, ${placeOf(given, unknown[0])}`);
      excerpts.push(excerptIn(given, unknown[0]));
      continue;
    }
    const asVariables = fun.unknown === 'variables' && typeof chunk.template === 'string';
    for (const key of unknown) {
      const told = tellUnknown(key, name, fun, asVariables, isStrict && chunk.lax !== true);
      if (told === undefined) continue;
      const sentence = `${told.message}, ${placeOf(given, key)}`;
      if (told.isFault && chunk.lax !== true) {
        faults.push(sentence);
        excerpts.push(excerptIn(given, key));
        hasSlip = true;
      } else warnings.push(`${sentence}.`);
    }
    bound.push(unknown.length === 0 ? chunk : without(chunk, unknown, asVariables));
  }
  if (faults.length > 0)
    throw new TsaltError('state-arguments', faults.join('\n'), {
      kind: 'render',
      // Of several, the places say enough.
      excerpt: faults.length === 1 ? excerpts[0] : undefined,
      hint: hasSlip ? '`- lax: true` on a state accepts its arguments as they are.' : undefined,
    });
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
    : [
        `There is no state function '${name}' (did you mean '${meant}'?), ${placeOf(chunk, undefined)}.`,
      ];
};

const unknownArguments = (chunk: LowChunk, { signature }: FunctionMeta): string[] => {
  if (signature.anyKeyword) return [];
  const known = [...signature.positional, ...(signature.keywords ?? [])].map(({ name }) => name);
  return Object.keys(chunk).filter(key => !internalKeywords.has(key) && !known.includes(key));
};

type Told = { readonly message: string; readonly isFault: boolean };

/** What is to be said of an unknown argument; nothing of a plain variable of a template. */
const tellUnknown = (
  key: string,
  name: string,
  { signature }: FunctionMeta,
  asVariable: boolean,
  isStrict: boolean,
): Told | undefined => {
  const meant = meantArgument(key, signature);
  if (meant === undefined) {
    const message = `'${key}' is not an argument of '${name}'`;
    if (asVariable) return undefined;
    return isStrict
      ? { message, isFault: true }
      : { message: `${message} and is ignored`, isFault: false };
  }
  const what = asVariable ? `would be a variable of the template` : `is not an argument`;
  return { message: `'${key}' ${what} of '${name}' (did you mean '${meant}'?)`, isFault: true };
};

const hintFor = (unknown: readonly string[], signature: FunctionSignature): string => {
  const meant = new Set(unknown.flatMap(key => meantArgument(key, signature) ?? []));
  return meant.size > 0 ? ` (did you mean ${[...meant].map(one => `'${one}'`).join(', ')}?)` : '';
};

/** A slot gets its value on the host. */
const hasSlot = (value: Plain | undefined): boolean =>
  JSON.stringify(value ?? null).includes('__slot__:');

const without = (chunk: LowChunk, keys: readonly string[], asVariables: boolean): LowChunk => {
  const kept: LowChunk = { ...chunk };
  for (const key of keys) delete kept[key];
  const defaults = chunk.defaults ?? {};
  if (!asVariables || !isPlainDict(defaults)) return kept;
  const variables = Object.fromEntries(keys.map(key => [key, chunk[key] ?? null]));
  return { ...kept, defaults: mergeWholeFloats(withWholeFloatsOf(chunk, variables), defaults) };
};

/** The lines around an argument. */
const excerptIn = (chunk: LowChunk, argument = ''): string | undefined => {
  const at = argumentPlace(chunk, argument);
  return at && excerptAt(at, 2);
};

const placeOf = (chunk: LowChunk, argument: string | undefined): string => {
  const at = argument === undefined ? statePlace(chunk) : argumentPlace(chunk, argument);
  const where = `in SLS '${chunk.__sls__}', ID '${chunk.__id__}'`;
  return at ? `${where} (${showPlace(at)})` : where;
};
