import { TsaltError } from '../protocol/error.ts';
import type { LogLine, StateFinished, StateStarted } from '../protocol/job.ts';
import { isPlainDict } from '../protocol/plain.ts';

// What hosts tell of themselves: data of strangers, which much of the control node works with.

/** @throws TsaltError `wire-protocol` for what is no start of a state */
export const readStarted = (said: unknown): StateStarted => {
  if (isPlainDict(said) && areTexts(said.tag, said.fun) && isScalar(said.id))
    return said as StateStarted;
  throw broken('state-start');
};

/** @throws TsaltError `wire-protocol` for what is no finished state */
export const readFinished = (said: unknown): StateFinished => {
  if (isPlainDict(said) && areTexts(said.tag) && isResult(said.result, said.stack !== undefined))
    return said as unknown as StateFinished;
  throw broken('state');
};

/** @throws TsaltError `wire-protocol` for what is no line of a log */
export const readLine = (said: unknown): LogLine => {
  if (isPlainDict(said) && areTexts(said.module, said.message) && levels.has(said.level))
    return said as unknown as LogLine;
  throw broken('log');
};

const levels = new Set<unknown>(['trace', 'debug', 'info', 'warning', 'error', 'critical']);

const isScalar = (value: unknown): boolean => typeof value !== 'object' || value === null;

const areTexts = (...values: readonly unknown[]): boolean =>
  values.every(value => typeof value === 'string');

/** A module's comment may be anything; that of a state that threw is text. */
const isResult = (said: unknown, threw: boolean): boolean =>
  isPlainDict(said) &&
  (!threw || areTexts(said.comment)) &&
  areTexts(said.start_time ?? '') &&
  [said.__id__, said.__sls__].every(isScalar) &&
  isPlainDict(said.changes) &&
  (said.result === null || typeof said.result === 'boolean') &&
  [said.duration ?? 0, said.__run_num__ ?? 0].every(value => typeof value === 'number');

const broken = (event: string): TsaltError =>
  new TsaltError(
    'wire-protocol',
    `The other side broke the protocol: its event "${event}" does not hold what it must.`,
    { kind: 'host' },
  );
