import { invalidKeywords, nearestHint } from '../data/bind.ts';
import { TsaltError } from '../protocol/error.ts';
import type { LowChunk } from '../protocol/low.ts';
import type { FunctionMeta, ModuleMeta } from '../protocol/meta.ts';
import { internalKeywords } from '../protocol/state-keywords.ts';

/**
 * Refuses chunks whose arguments their functions do not have, all of them at once and before
 * anything runs: Salt notices only when it reaches the state, and loses what ran before.
 * Functions that no module, or several, offer are left to the host.
 */
export const checkChunks = (chunks: readonly LowChunk[], modules: readonly ModuleMeta[]): void => {
  const functions = new Map<string, FunctionMeta | undefined>();
  const used = new Set(chunks.map(({ state }) => state));
  for (const module of modules) {
    const own = module.virtualname ?? module.file;
    if (module.kind !== 'state' || !used.has(own)) continue;
    for (const item of module.functions) {
      const name = `${own}.${item.name}`;
      functions.set(name, functions.has(name) ? undefined : item);
    }
  }
  const faults = chunks.flatMap(chunk =>
    faultOf(chunk, functions.get(`${chunk.state}.${chunk.fun}`)),
  );
  if (faults.length > 0)
    throw new TsaltError('state-arguments', faults.join('\n'), { kind: 'render' });
};

const faultOf = (chunk: LowChunk, fun: FunctionMeta | undefined): string[] => {
  if (!fun || fun.signature.anyKeyword) return [];
  const known = [...fun.signature.positional, ...(fun.signature.keywords ?? [])].map(
    ({ name }) => name,
  );
  const unknown = Object.keys(chunk).filter(
    key => !internalKeywords.has(key) && !known.includes(key),
  );
  if (unknown.length === 0) return [];
  const sentence = invalidKeywords(`${chunk.state}.${chunk.fun}`, unknown);
  const hint = nearestHint(fun.signature, unknown);
  return [`${sentence}${hint}, in SLS '${chunk.__sls__}', ID '${chunk.__id__}'`];
};
