import { mayBeCalled } from '../../data/signatures/module-names.ts';
import { TsaltError } from '../../protocol/error.ts';
import type { LowChunk } from '../../protocol/low.ts';
import type { ModuleMeta } from '../../protocol/meta.ts';
import { isPlainDict, type Plain, plainText } from '../../protocol/plain.ts';
import { internalKeywords } from '../../protocol/state-keywords.ts';
import { hostFunction } from '../../wrapper/host-functions.ts';
import { findWrapper } from '../../wrapper/table.ts';

/**
 * Refuses states that call a function of the control node which a host may not call, such as
 * `state.sls`, by `module.run` or as a condition. They would fail only when their turn comes, after
 * other states have run.
 *
 * @throws TsaltError naming every such call
 */
export const checkFunctions = (
  chunks: readonly LowChunk[],
  modules: readonly ModuleMeta[],
): void => {
  const faults = chunks.flatMap(chunk =>
    callsOfControl(chunk, modules).map(
      fun =>
        `'${fun}' lives on the control node and cannot be called by a state, in SLS '${chunk.__sls__}', ID '${chunk.__id__}'`,
    ),
  );
  if (faults.length > 0)
    throw new TsaltError('control-function', faults.join('\n'), {
      kind: 'render',
      hint: 'States of other SLS come in by include; in a template the function can be called.',
    });
};

/** Returns the functions of the control node that a chunk calls and a host may not call. */
export const callsOfControl = (chunk: LowChunk, modules: readonly ModuleMeta[]): string[] =>
  calledBy(chunk).filter(fun => isForControlOnly(fun, modules));

/** Returns the functions that a chunk calls, by `module.run` or as a condition. */
export const calledBy = (chunk: LowChunk): string[] => [
  ...(chunk.state === 'module' ? runBy(chunk) : []),
  ...conditions(chunk.onlyif),
  ...conditions(chunk.unless),
];

/** Returns the functions of `module.run`: keys with dots, or `name` in the older form. */
const runBy = (chunk: LowChunk): string[] => {
  const keys = Object.keys(chunk).filter(key => key.includes('.') && !internalKeywords.has(key));
  return keys.length > 0 ? keys.map(key => key.split(':')[0] ?? key) : [plainText(chunk.name)];
};

const conditions = (value: Plain | undefined): string[] =>
  value === undefined
    ? []
    : [value].flat().flatMap(entry => (isPlainDict(entry) ? [plainText(entry.fun)] : []));

const isForControlOnly = (fun: string, modules: readonly ModuleMeta[]): boolean => {
  const right = hostFunction(fun)?.right;
  if (!findWrapper(fun) || right === 'always' || right === 'stated') return false;
  const dot = fun.indexOf('.');
  const [moduleName, name] = [fun.slice(0, dot), fun.slice(dot + 1)];
  return !modules.some(
    module =>
      module.kind === 'exec' &&
      mayBeCalled(module, moduleName) &&
      module.functions.some(item => item.name === name),
  );
};
