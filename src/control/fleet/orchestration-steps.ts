import type { BatchSize, Request, TargetType } from '../../config/request.ts';
import { TsaltError } from '../../protocol/error.ts';
import type { HostResult } from '../../protocol/event.ts';
import { type LowChunk, lowTag } from '../../protocol/low.ts';
import type { OrchestrationStep, StepReturn } from '../../protocol/orchestration.ts';
import { isPlainDict, type Plain, type PlainDict } from '../../protocol/plain.ts';
import type { TaintOf } from '../facts/shared.ts';

export const noTaint: TaintOf = () => undefined;

export const returnOf = (result: HostResult, missed: ReadonlyMap<string, string>): StepReturn => {
  const { id, failure, states, value, retcode } = result;
  const needed = missed.get(id);
  if (failure) {
    const why = needed === undefined ? '' : ` It needs the result of '${needed}'.`;
    return { ret: false, retcode, failed: `${failure.message.split('\n')[0]}${why}` };
  }
  return { ret: (states ?? value ?? null) as Plain, retcode };
};

/** The step of a chunk as far as known before the run; undefined if a result decides. */
export const plannedStep = (chunk: LowChunk, isTest: boolean): OrchestrationStep | undefined => {
  const { fun, tgt, tgt_type = 'glob' } = chunk;
  if (fun !== 'state' && fun !== 'function') return undefined;
  if (allStringsIn(chunk as Plain).some(text => text.startsWith('__slot__:'))) return undefined;
  const isTarget = typeof tgt === 'string' || (Array.isArray(tgt) && tgt.every(isText));
  if (!isTarget || !isText(tgt_type)) return undefined;
  const base = { tag: lowTag(chunk), id: chunk.__id__, tgt: tgt as string, tgt_type };
  if (fun === 'function') {
    const words = typeof chunk.arg === 'string' ? chunk.arg.split(/\s+/) : [];
    const arg = Array.isArray(chunk.arg) ? chunk.arg : words.filter(word => word !== '');
    const kwarg = isPlainDict(chunk.kwarg) ? chunk.kwarg : {};
    return { ...base, fun: String(chunk.name), arg, kwarg };
  }
  const { sls, pillar, saltenv, pillarenv, exclude } = chunk;
  const given = { pillar, saltenv, pillarenv, exclude };
  const kwarg: PlainDict = { test: isTest };
  for (const [key, value] of Object.entries(given))
    if (value !== undefined && value !== null) kwarg[key] = value;
  const names = [sls ?? []].flat().map(String);
  if (chunk.highstate) return { ...base, fun: 'state.highstate', arg: [], kwarg };
  if (chunk.top) return { ...base, fun: 'state.top', arg: [chunk.top], kwarg };
  // The step itself reports that it has nothing to apply.
  if (names.length === 0) return undefined;
  return { ...base, fun: 'state.sls', arg: [names.join(',')], kwarg };
};

/** States that do not compile are a list of messages. */
export const isErrors = (value: Plain | undefined): boolean =>
  Array.isArray(value) && value.length > 0 && value.every(isText);

const isText = (value: unknown): value is string => typeof value === 'string';

/** Returns the call that compiles the states of a step without running them. */
export const compiledOnly = (request: Request): Request | undefined => {
  const kwargs = new Map(request.kwargs);
  for (const key of ['queue', 'concurrent', 'test']) kwargs.delete(key);
  if (request.fun === 'state.highstate') return { ...request, fun: 'state.show_lowstate', kwargs };
  if (request.fun !== 'state.sls') return undefined;
  return { ...request, fun: 'state.show_low_sls', kwargs };
};

const typeNames: Readonly<Record<string, TargetType>> = {
  glob: 'glob',
  pcre: 'pcre',
  list: 'list',
  nodegroup: 'nodegroup',
  grain: 'grain',
  grain_pcre: 'grain_pcre',
  pillar: 'pillar',
  pillar_pcre: 'pillar_pcre',
  pillar_exact: 'pillar',
  ipcidr: 'ipcidr',
  compound: 'compound',
};

export const targetTypeOf = (name: string): TargetType => {
  const type = Object.hasOwn(typeNames, name) ? typeNames[name] : undefined;
  if (type) return type;
  throw new TsaltError('target-type', `There is no tgt_type '${name}'.`, {
    hint: `It is one of ${Object.keys(typeNames).join(', ')}.`,
  });
};

export const batchSize = (text: string): BatchSize => {
  const [, digits = '', percent] = /^\s*(\d{1,6})\s*(%?)\s*$/.exec(text) ?? [];
  const count = Number(digits);
  if (count < 1)
    throw new TsaltError(
      'batch-size',
      `batch is a number of hosts or a part such as 25%, not '${text}'.`,
    );
  return percent === '%' ? { percent: count } : { count };
};

/** Returns all strings in data, keys included. */
export const allStringsIn = (data: Plain): string[] => {
  const texts: string[] = [];
  const open: Plain[] = [data];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === 'string') texts.push(next);
    else if (Array.isArray(next)) open.push(...next);
    else if (isPlainDict(next))
      for (const [key, value] of Object.entries(next)) {
        texts.push(key);
        if (value !== undefined) open.push(value);
      }
  }
  return texts;
};

/** Refuses a step in which host-supplied data choose hosts, functions or SLS. */
export const refuseTainted = (step: OrchestrationStep, taintOf: TaintOf): void => {
  const { tgt, tgt_type, fun, arg, kwarg, id } = step;
  const chosen: Plain[] = [tgt as Plain, tgt_type, fun, kwarg.saltenv, kwarg.pillarenv].map(
    value => value ?? null,
  );
  const named = fun.startsWith('state.') ? [...chosen, [...arg], kwarg.exclude ?? null] : chosen;
  refuseTaintedString(`Step '${id}'`, named, taintOf);
};

export const refuseTaintedString = (
  who: string,
  given: readonly (Plain | undefined)[],
  taintOf: TaintOf,
): void => {
  for (const text of allStringsIn(given.map(value => value ?? null))) {
    const [range] = taintOf(text) ?? [];
    if (range)
      throw new TsaltError(
        'step-tainted',
        `${who}: ${JSON.stringify(text)} comes from a host (${range.source}). What a host sends does not choose hosts, functions or SLS.`,
        { hint: 'Pass such values on as pillar, or as arguments of a function.' },
      );
  }
};
