import { argumentLocation, stateLocation } from '../../compiler/chunks.ts';
import { closestMatch } from '../../data/closest-match.ts';
import { invalidKeywords, paramsOf, wrongTypes } from '../../data/signatures/bind.ts';
import { mayBeCalled } from '../../data/signatures/module-names.ts';
import { excerptAt } from '../../data/values/position.ts';
import { type SourceLocation, showLocation, TsaltError } from '../../protocol/error.ts';
import type { LowChunk } from '../../protocol/low.ts';
import type { FunctionMeta, FunctionSignature, ModuleMeta } from '../../protocol/meta.ts';
import { isPlainDict, type Plain } from '../../protocol/plain.ts';
import { internalKeywords } from '../../protocol/state-keywords.ts';
import { mergeWholeFloats, withWholeFloatsOf } from '../../protocol/whole-floats.ts';
import { meantArgument, meantRequisite } from './argument-slips.ts';
import { byState } from './by-state.ts';
import { withFloatStrings } from './float-arguments.ts';

type BoundChunks = {
  readonly chunks: readonly LowChunk[];
  /** One sentence for each argument that has no effect. */
  readonly warnings: readonly string[];
};

/** A wrong argument or function of a state. */
export type ChunkError = {
  readonly rule: 'argument-type' | 'unknown-argument' | 'unknown-function';
  /** Without a full stop and without the position. */
  readonly message: string;
  readonly chunk: LowChunk;
  readonly argument?: string | undefined;
  /** The argument resembles a known one: `lax` accepts it. */
  readonly isSlip?: boolean;
};

type CheckedChunks = {
  readonly chunks: readonly LowChunk[];
  readonly faults: readonly ChunkError[];
  readonly warnings: readonly ChunkError[];
};

/**
 * Binds chunks to their functions, and checks them before anything runs on the host. Salt notices
 * an error only when the run reaches the state.
 *
 * @param isStrict also refuse arguments that a function would ignore (`--strict`)
 * @throws TsaltError `state-arguments` with every argument that is refused, and its position
 */
export const bindChunks = (
  chunks: readonly LowChunk[],
  modules: readonly ModuleMeta[],
  isStrict = false,
): BoundChunks => {
  const { chunks: bound, faults, warnings } = checkChunks(chunks, modules, isStrict);
  const [first] = faults;
  if (first)
    throw new TsaltError('state-arguments', faults.map(sentenceOf).join('\n'), {
      kind: 'render',
      // Of several, the places say enough.
      excerpt: faults.length === 1 ? excerptIn(first) : undefined,
      hint: faults.some(({ isSlip }) => isSlip)
        ? '`- lax: true` on a state accepts its arguments as they are.'
        : undefined,
    });
  return { chunks: bound, warnings: warnings.map(fault => `${sentenceOf(fault)}.`) };
};

const sentenceOf = (fault: ChunkError): string => `${fault.message}, ${placeOf(fault)}`;

/**
 * Checks the functions and arguments of chunks and converts the arguments.
 *
 * - An argument that the function does not have is refused; all of them are reported at once. A
 *   function that is marked `@unknown` (Salt's accepts any argument silently) ignores it with a
 *   warning, or passes it to its template as a variable. If the name resembles an argument or a
 *   requisite, it is refused there as well.
 * - A value of a wrong type is refused.
 *
 * `- lax: true` on a state accepts names that resemble an argument. Functions that no module, or
 * more than one, provides are left to the host.
 */
export const checkChunks = (
  chunks: readonly LowChunk[],
  modules: readonly ModuleMeta[],
  isStrict = false,
): CheckedChunks => {
  const bound: LowChunk[] = [];
  const faults: ChunkError[] = [];
  const warnings: ChunkError[] = [];
  for (const given of chunks) {
    const name = `${given.state}.${given.fun}`;
    const functions = functionsOf(modules, given.state);
    const fun = functions.get(given.fun);
    const chunk = withFloatStrings(given, fun);
    if (!functions.has(given.fun)) warnings.push(...misspelt(name, given, modules));
    if (!fun) {
      bound.push(chunk);
      continue;
    }
    for (const { name: argument, message } of wrongTypes(fun.signature, chunk))
      if (!hasSlot(chunk[argument]))
        faults.push({
          rule: 'argument-type',
          message: `'${name}': ${message}`,
          chunk: given,
          argument,
        });
    if (fun.signature.anyKeyword && given.lax !== true) faults.push(...lostIn(name, given, fun));
    const unknown = unknownArguments(chunk, fun);
    if (unknown.length > 0 && !fun.unknown) {
      const message = `${invalidKeywords(name, unknown)}${hintFor(unknown, fun.signature)}`;
      faults.push({ rule: 'unknown-argument', message, chunk: given, argument: unknown[0] });
      continue;
    }
    const asVariables = fun.unknown === 'variables' && typeof chunk.template === 'string';
    for (const key of unknown) {
      const told = tellUnknown(key, name, fun, asVariables, isStrict && chunk.lax !== true);
      if (told === undefined) continue;
      const { message } = told;
      const fault = { rule: 'unknown-argument', message, chunk: given, argument: key } as const;
      if (told.isFault && chunk.lax !== true) faults.push({ ...fault, isSlip: true });
      else warnings.push(fault);
    }
    bound.push(unknown.length === 0 ? chunk : without(chunk, unknown, asVariables));
  }
  return { chunks: bound, faults, warnings };
};

/** Functions of a state; undefined where several modules have one. */
const functionsOf = byState((modules, state): ReadonlyMap<string, FunctionMeta | undefined> => {
  const functions = new Map<string, FunctionMeta | undefined>();
  for (const module of modules) {
    if (module.kind !== 'state' || (module.virtualname ?? module.file) !== state) continue;
    for (const meta of module.functions)
      functions.set(meta.name, functions.has(meta.name) ? undefined : meta);
  }
  return functions;
});

/**
 * Reports a misspelt function before the run. Other functions that no module has fail on the host.
 */
const misspelt = (name: string, chunk: LowChunk, modules: readonly ModuleMeta[]): ChunkError[] => {
  const states = modules.filter(({ kind }) => kind === 'state');
  if (modules.some(module => !module.builtin && mayBeCalled(module, chunk.state))) return [];
  const meant = closestMatch(
    name,
    states.flatMap(module =>
      module.functions.map(fun => `${module.virtualname ?? module.file}.${fun.name}`),
    ),
  );
  return meant === undefined
    ? []
    : [
        {
          rule: 'unknown-function',
          message: `The state function '${name}' does not exist (did you mean '${meant}'?)`,
          chunk,
        },
      ];
};

const unknownArguments = (chunk: LowChunk, { signature }: FunctionMeta): string[] => {
  if (signature.anyKeyword) return [];
  const params = paramsOf(signature);
  return Object.keys(chunk).filter(key => !internalKeywords.has(key) && !params.has(key));
};

/** Finds misspelt requisites among the arguments of a function that takes any argument. */
const lostIn = (name: string, chunk: LowChunk, { signature }: FunctionMeta): ChunkError[] => {
  const params = paramsOf(signature);
  return Object.entries(chunk).flatMap(([argument, value]): ChunkError[] => {
    if (internalKeywords.has(argument) || params.has(argument)) return [];
    const meant = meantRequisite(argument, value);
    const message = `'${argument}' of '${name}' is not a requisite (did you mean '${meant}'?)`;
    if (meant === undefined) return [];
    return [{ rule: 'unknown-argument', message, chunk, argument, isSlip: true }];
  });
};

type Told = { readonly message: string; readonly isFault: boolean };

/** Returns the warning for an unknown argument; none for a plain variable of a template. */
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

/** Where a fault is in the SLS. */
export const chunkErrorLocation = ({ chunk, argument }: ChunkError): SourceLocation | undefined =>
  argument === undefined ? stateLocation(chunk) : argumentLocation(chunk, argument);

/** The lines around a fault. */
const excerptIn = (fault: ChunkError): string | undefined => {
  const at = chunkErrorLocation(fault);
  return at && excerptAt(at, 2);
};

const placeOf = (fault: ChunkError): string => {
  const at = chunkErrorLocation(fault);
  const { __sls__, __id__ } = fault.chunk;
  // `state.single` has no SLS.
  const where = `${__sls__ === undefined ? 'in' : `in SLS '${__sls__}',`} ID '${__id__}'`;
  return at ? `${where} (${showLocation(at)})` : where;
};
