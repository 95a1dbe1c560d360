import { invalidKeywords } from '../../data/bind.ts';
import type { LowChunk } from '../../protocol/low.ts';
import type { Param, Signature } from '../../protocol/meta.ts';
import { type PlainDict, setOwn } from '../../protocol/plain.ts';
import { internalKeywords } from '../../protocol/state-keywords.ts';
import { RunAborted } from './abort.ts';

/** The parameters a caller must give, in the order of the source. */
export const requiredParameters = ({ positional, keywords = [] }: Signature): readonly string[] =>
  [...positional, ...keywords].filter(isRequired).map(({ name }) => name);

const isRequired = (param: Param): boolean =>
  param.optional !== true && !Object.hasOwn(param, 'default');

/**
 * The keyword arguments of a state call: what the function declares, and for one that takes
 * any keyword also the rest, without what belongs to the state system.
 *
 * @throws RunAborted on arguments the function does not know, which ends the run as in Salt
 */
export const bindLow = (full: string, signature: Signature, low: LowChunk): PlainDict => {
  const declared = new Set(
    [...signature.positional, ...(signature.keywords ?? [])].map(({ name }) => name),
  );
  const kwargs: PlainDict = {};
  const unknown: string[] = [];
  for (const [key, value] of Object.entries(low)) {
    if (declared.has(key)) setOwn(kwargs, key, value);
    else if (internalKeywords.has(key)) continue;
    else if (signature.anyKeyword) setOwn(kwargs, key, value);
    else unknown.push(key);
  }
  if (unknown.length > 0) throw new RunAborted(invalidKeywords(full, unknown));
  return kwargs;
};
