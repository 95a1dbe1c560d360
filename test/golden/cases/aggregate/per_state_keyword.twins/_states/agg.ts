import type { LowChunk, Plain, PlainDict, StateReturn } from 'tsalt-ssh/module';

type Options = { pkgs?: string[]; [key: string]: Plain | undefined };

/** aggregated state */
export const installed = (name: string, { pkgs }: Options = {}): StateReturn => {
  const names = pkgs && pkgs.length > 0 ? pkgs : [name];
  const changes: PlainDict = {};
  for (const one of names) changes[one] = { old: '', new: '1' };
  return { name, result: true, changes, comment: `installed ${names.join(' ')}` };
};

export const mod_aggregate = (
  low: LowChunk,
  chunks: LowChunk[],
  running: PlainDict,
): LowChunk => {
  const pkgs: Plain[] = [];
  for (const chunk of chunks) {
    const tag = [chunk.state, chunk.__id__, chunk.name, chunk.fun].join('_|-');
    if (Object.hasOwn(running, tag) || chunk.state !== 'agg' || chunk.fun !== low.fun) continue;
    if (chunk.__agg__ && chunk !== low) continue;
    pkgs.push(...(Array.isArray(chunk.pkgs) && chunk.pkgs.length > 0 ? chunk.pkgs : [chunk.name]));
    chunk.__agg__ = true;
  }
  if (pkgs.length > 0) low.pkgs = pkgs;
  return low;
};
