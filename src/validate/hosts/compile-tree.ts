import { type Chunk, lowChunks, stateLocation } from '../../compiler/chunks.ts';
import { type Compiled, compile } from '../../compiler/compile.ts';
import type { LoadedSls, SlsTree } from '../../compiler/load.ts';
import { copyOf } from '../../compiler/location.ts';
import type { Problem } from '../../compiler/problem.ts';
import {
  type ChunkError,
  checkChunks,
  chunkErrorLocation,
} from '../../control/prepare/bind-chunks.ts';
import { callsOfControl } from '../../control/prepare/check-functions.ts';
import { findLost } from '../../control/prepare/lost-requisites.ts';
import { closestMatch } from '../../data/closest-match.ts';
import { moduleName } from '../../data/signatures/module-docs.ts';
import { mayBeCalled } from '../../data/signatures/module-names.ts';
import { isDict } from '../../data/values/value.ts';
import type { LowChunk } from '../../protocol/low.ts';
import type { ModuleMeta } from '../../protocol/meta.ts';
import type { WrapperContext } from '../../wrapper/context.ts';
import { compileOptions } from '../../wrapper/state-call.ts';
import { type Finding, findingAt, findingOf } from '../findings.ts';

/** The states of SLS that are compiled together. */
export type CompiledStates = {
  readonly findings: readonly Finding[];
  readonly chunks: readonly LowChunk[];
};

/**
 * Compiles a tree and checks its states. A tree with errors is checked as far as its IDs compile by themselves.
 *
 * @param isStrict refuse arguments that would be ignored
 */
export const compileTree = (
  tree: SlsTree,
  ctx: WrapperContext,
  { isStrict }: { readonly isStrict: boolean },
): CompiledStates => {
  const options = compileOptions(ctx);
  const compiled = compile(tree, { ...options, collect: 'show' });
  const findings = compiled.errors.map(one => findingOf(ruleOf(one), one));
  const isWhole = compiled.errors.length === 0;
  const chunks = lowChunks(isWhole ? compiled.chunks : sound(tree, options));
  const { faults, warnings } = checkChunks(chunks, ctx.modules, isStrict);
  const unknown = unknownFunctions(chunks, ctx.modules);
  const wrong = [...faults, ...unknown];
  const ignored = warnings.filter(({ rule }) => rule !== 'unknown-function');
  for (const [list, severity] of [
    [wrong, 'error'],
    [ignored, 'warning'],
  ] as const)
    for (const fault of list) {
      const { rule, message, chunk, isSlip } = fault;
      const hint = isSlip ? '`- lax: true` on the state accepts it as it is.' : undefined;
      const sentence = `${message}, in ID '${chunk.__id__}' of SLS '${chunk.__sls__}'`;
      const finding = { rule, severity, message: sentence, ...(hint ? { hint } : {}) };
      findings.push(findingAt(finding, chunkErrorLocation(fault)));
    }
  for (const chunk of chunks)
    for (const fun of callsOfControl(chunk, ctx.modules))
      findings.push(
        findingAt(
          {
            rule: 'control-function',
            severity: 'error',
            message: `'${fun}' lives on the control node and cannot be called by a state, in ID '${chunk.__id__}' of SLS '${chunk.__sls__}'`,
          },
          stateLocation(chunk),
        ),
      );
  if (isWhole)
    for (const { message, at } of findLost(chunks))
      findings.push(findingAt({ rule: 'lost-requisite', severity: 'warning', message }, at));
  return { findings, chunks };
};

const functionNames = new WeakMap<readonly ModuleMeta[], ReadonlySet<string>>();

const stateFunctions = (modules: readonly ModuleMeta[]): ReadonlySet<string> => {
  const known = functionNames.get(modules);
  if (known) return known;
  const states = modules.filter(({ kind, broken }) => kind === 'state' && broken === undefined);
  const names = new Set(
    states.flatMap(module =>
      [moduleName(module), ...(module.virtual ?? [])].flatMap(name =>
        module.functions.map(fun => `${name}.${fun.name}`),
      ),
    ),
  );
  functionNames.set(modules, names);
  return names;
};

/** States that fail on every host: no module, of the user's neither, has their function. */
const unknownFunctions = (
  chunks: readonly LowChunk[],
  modules: readonly ModuleMeta[],
): ChunkError[] => {
  const names = stateFunctions(modules);
  const isOpen = (chunk: LowChunk): boolean =>
    modules.some(
      module =>
        module.kind === 'state' &&
        !module.builtin &&
        mayBeCalled(module, chunk.state) &&
        (module.dynamic === true ||
          module.broken !== undefined ||
          module.functions.some(fun => fun.name === chunk.fun)),
    );
  return chunks
    .filter(chunk => !names.has(`${chunk.state}.${chunk.fun}`) && !isOpen(chunk))
    .map(chunk => {
      const name = `${chunk.state}.${chunk.fun}`;
      const meant = closestMatch(name, names);
      const hint = meant === undefined ? '' : ` (did you mean '${meant}'?)`;
      return {
        rule: 'unknown-function',
        message: `There is no state function '${name}'${hint}`,
        chunk,
      };
    });
};

const ruleOf = ({ message }: Problem): string => {
  if (/^Rendering SLS /.test(message)) return 'render';
  if (/is not available on the salt master|No matching sls found/.test(message))
    return 'missing-sls';
  return 'compile';
};

/** The chunks of all IDs that compile by themselves, where the whole does not. */
const sound = (tree: SlsTree, options: object): Chunk[] => {
  const chunks: Chunk[] = [];
  for (const { loaded, ...root } of tree)
    for (const one of 'sls' in loaded ? allOf(loaded) : []) {
      if (one.data === undefined || !isDict(one.data)) continue;
      for (const id of one.data.keys()) {
        if (id === 'include' || id === 'exclude' || id === 'extend') continue;
        const data = copyOf(one.data);
        for (const other of one.data.keys()) if (other !== id) data.delete(other);
        const alone = { ...one, data, includes: [], includeProblems: [] };
        const compiled: Compiled = compile([{ ...root, loaded: alone }], options);
        if (compiled.errors.length === 0) chunks.push(...compiled.chunks);
      }
    }
  return chunks;
};

/** An SLS and all that it includes. */
const allOf = (loaded: LoadedSls): LoadedSls[] => [
  ...loaded.includes.flatMap(one => ('sls' in one ? allOf(one) : [])),
  loaded,
];
