import { invalidKeywords } from '../../data/signatures/bind.ts';
import type { LowChunk } from '../../protocol/low.ts';
import type { FunctionSignature, Param } from '../../protocol/meta.ts';
import { type Plain, type PlainDict, setOwn } from '../../protocol/plain.ts';
import { internalKeywords } from '../../protocol/state-keywords.ts';

type Declared = {
  readonly names: ReadonlySet<string>;
  readonly required: readonly string[];
};

/** By signature: many states of a run call the same function. */
const known = new WeakMap<FunctionSignature, Declared>();

const declaredBy = (signature: FunctionSignature): Declared => {
  const before = known.get(signature);
  if (before) return before;
  const params = [...signature.positional, ...(signature.keywords ?? [])];
  const declared = {
    names: new Set(params.map(({ name }) => name)),
    required: params.filter(isRequired).map(({ name }) => name),
  };
  known.set(signature, declared);
  return declared;
};

/** The required parameters, in the order of the source. */
export const requiredParameters = (signature: FunctionSignature): readonly string[] =>
  declaredBy(signature).required;

const isRequired = (param: Param): boolean =>
  param.optional !== true && !Object.hasOwn(param, 'default');

/**
 * Returns the keyword arguments of a state call: those that the function declares, and for
 * `**kwargs` also the others, without those of the state system.
 *
 * @returns the keyword arguments, or why the function cannot be called with this chunk. Salt then
 *   ends the whole run (salt.utils.args.format_call); here only the state fails
 */
export const bindLow = (
  full: string,
  signature: FunctionSignature,
  low: LowChunk,
): { readonly kwargs: PlainDict; readonly error?: string } => {
  const { names } = declaredBy(signature);
  const kwargs: PlainDict = {};
  let unknown: string[] | undefined;
  for (const key of Object.keys(low)) {
    if (names.has(key)) setOwn(kwargs, key, low[key] as Plain);
    else if (internalKeywords.has(key)) continue;
    else if (signature.anyKeyword) setOwn(kwargs, key, low[key] as Plain);
    else {
      unknown ??= [];
      unknown.push(key);
    }
  }
  if (unknown === undefined) return { kwargs };
  return { kwargs, error: `${invalidKeywords(full, unknown)}.${hintFor(low, unknown)}` };
};

/** `mod_watch` receives all options of the reacting state, and its function as `sfun`. */
const hintFor = (low: LowChunk, unknown: readonly string[]): string =>
  low.fun === 'mod_watch' && low.sfun !== undefined
    ? ` mod_watch is called with every option of the state and with sfun, its function: declare ${
        unknown.length === 1 ? 'this one' : 'these'
      }, or take the rest (\`{ ...rest }\`).`
    : '';
