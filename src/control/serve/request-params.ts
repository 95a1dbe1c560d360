import { TsaltError } from '../../protocol/error.ts';
import type { ControlMethods } from '../../protocol/job.ts';
import { mostOfMany } from '../../protocol/many-files.ts';
import { isPlainDict } from '../../protocol/plain.ts';

/** Characters of a prediction that is shown to the user. */
const longestDecision = 1024 * 1024;

/** Reads the parameters of `file.get`, which a host sent. @throws TsaltError `wire-params` */
export const readGet = (said: unknown): ControlMethods['file.get'] => {
  if (
    isPlace(said) &&
    isOptionalText(said.have) &&
    ['boolean', 'undefined'].includes(typeof said.peek)
  )
    return said as ControlMethods['file.get'];
  throw wrongParams('file.get');
};

/** Reads the parameters of `file.getMany`, which a host sent. @throws TsaltError `wire-params` */
export const readGetMany = (said: unknown): ControlMethods['file.getMany'] => {
  if (
    isPlainDict(said) &&
    Array.isArray(said.items) &&
    said.items.length <= mostOfMany &&
    said.items.every(isNamedFile)
  )
    return said as unknown as ControlMethods['file.getMany'];
  throw wrongParams('file.getMany');
};

/** Reads the parameters of `file.list`, which a host sent. @throws TsaltError `wire-params` */
export const readList = (said: unknown): ControlMethods['file.list'] => {
  if (isPlace(said) && ['boolean', 'undefined'].includes(typeof said.hashes))
    return said as ControlMethods['file.list'];
  throw wrongParams('file.list');
};

/** Reads the parameters of `file.render`, which a host sent. @throws TsaltError `wire-params` */
export const readRender = (said: unknown): ControlMethods['file.render'] => {
  if (
    isPlainDict(said) &&
    isText(said.key) &&
    [said.text, said.have].every(isOptionalText) &&
    ['boolean', 'undefined'].includes(typeof said.ahead) &&
    (said.accumulator === undefined || areVariables(said.accumulator))
  )
    return said as unknown as ControlMethods['file.render'];
  throw wrongParams('file.render');
};

/**
 * Reads the parameters of `file.renderComputed`, which a host sent. @throws TsaltError
 * `wire-params`
 */
export const readComputed = (said: unknown): ControlMethods['file.renderComputed'] => {
  if (
    isPlainDict(said) &&
    [said.source, said.saltenv].every(isName) &&
    isText(said.template) &&
    [said.text, said.have].every(isOptionalText) &&
    [said.context, said.chunk].every(areVariables)
  )
    return said as unknown as ControlMethods['file.renderComputed'];
  throw wrongParams('file.renderComputed');
};

/** Reads the parameters of `state.decide`, which a host sent. @throws TsaltError `wire-params` */
export const readDecision = (said: unknown): ControlMethods['state.decide'] => {
  if (
    isPlainDict(said) &&
    [said.tag, said.id, said.comment].every(isText) &&
    (said.sls === null || isText(said.sls)) &&
    isPlainDict(said.changes) &&
    (said.result === null || typeof said.result === 'boolean') &&
    JSON.stringify(said).length <= longestDecision
  )
    return said as unknown as ControlMethods['state.decide'];
  throw wrongParams('state.decide');
};

/** Reads the parameters of `control.grains`, which a host sent. @throws TsaltError `wire-params` */
export const readGrains = (said: unknown): ControlMethods['control.grains'] => {
  if (isPlainDict(said) && isPlainDict(said.grains))
    return said as unknown as ControlMethods['control.grains'];
  throw wrongParams('control.grains');
};

/** Reads the parameters of `control.call`, which a host sent. @throws TsaltError `wire-params` */
export const readCall = (said: unknown): ControlMethods['control.call'] => {
  if (isPlainDict(said) && isText(said.fun) && Array.isArray(said.args) && isPlainDict(said.kwargs))
    return said as unknown as ControlMethods['control.call'];
  throw wrongParams('control.call');
};

/**
 * Reads the parameters of `orchestrate.run` from the control node's runtime. @throws TsaltError
 * `wire-params`
 */
export const readStep = (said: unknown): ControlMethods['orchestrate.run'] => {
  if (
    isPlainDict(said) &&
    [said.tag, said.id, said.tgt_type, said.fun].every(isText) &&
    (isText(said.tgt) || (Array.isArray(said.tgt) && said.tgt.every(isText))) &&
    Array.isArray(said.arg) &&
    isPlainDict(said.kwarg) &&
    isOptionalText(said.batch) &&
    [said.subset, said.timeout].every(isOptionalCount) &&
    ['boolean', 'undefined'].includes(typeof said.failhard)
  )
    return said as unknown as ControlMethods['orchestrate.run'];
  throw wrongParams('orchestrate.run');
};

/**
 * Reads the parameters of `orchestrate.wait` from the control node's runtime. @throws TsaltError
 * `wire-params`
 */
export const readWait = (said: unknown): ControlMethods['orchestrate.wait'] => {
  if (
    isPlainDict(said) &&
    [said.tag, said.event_id].every(isText) &&
    Array.isArray(said.ids) &&
    typeof said.timeout === 'number' &&
    said.timeout >= 0
  )
    return said as unknown as ControlMethods['orchestrate.wait'];
  throw wrongParams('orchestrate.wait');
};

/**
 * Reads the parameters of `orchestrate.nested` from the control node's runtime. @throws TsaltError
 * `wire-params`
 */
export const readNested = (said: unknown): ControlMethods['orchestrate.nested'] => {
  if (isPlainDict(said) && [said.tag, said.fun].every(isText) && isPlainDict(said.kwarg))
    return said as unknown as ControlMethods['orchestrate.nested'];
  throw wrongParams('orchestrate.nested');
};

const isOptionalCount = (value: unknown): boolean =>
  value === undefined || (typeof value === 'number' && value >= 0);

/**
 * Reads the parameters of `file.push`, which a host sent, without checking the values. @throws
 * TsaltError `wire-params`
 */
export const readPush = (said: unknown): ControlMethods['file.push'] => {
  if (isPlainDict(said)) return said as unknown as ControlMethods['file.push'];
  throw wrongParams('file.push');
};

const isText = (value: unknown): value is string => typeof value === 'string';

const isOptionalText = (value: unknown): boolean => value === undefined || isText(value);

/** Paths and names of environments; those of Linux have at most 4096 bytes. */
const isName = (value: unknown): value is string => isText(value) && value.length <= 4096;

/** No template has more variables. */
const mostVariables = 10_000;

const areVariables = (said: unknown): boolean =>
  isPlainDict(said) && Object.keys(said).length <= mostVariables;

const isNamedFile = (item: unknown): boolean =>
  Array.isArray(item) && [1, 2].includes(item.length) && item.every(isName);

const isPlace = (said: unknown): said is Record<string, unknown> =>
  isPlainDict(said) && isName(said.path) && isName(said.saltenv);

/** A request with parameters that its method does not have. */
const wrongParams = (method: string): TsaltError =>
  new TsaltError('wire-params', `The parameters of "${method}" are malformed.`, {
    kind: 'host',
  });
