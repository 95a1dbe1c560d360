import type { TsaltError } from '../../protocol/error.ts';
import type {
  CallResult,
  LogLine,
  ModuleEvent,
  OutputPiece,
  RunResult,
  StateFinished,
  StateStarted,
} from '../../protocol/job.ts';
import { broken } from '../../protocol/message.ts';
import { isPlainDict, type PlainDict } from '../../protocol/plain.ts';

// Checks what hosts report about themselves: untrusted data that much of the control node uses.
// Events have only the fields that are named here: any other one, such as the name of another host,
// would replace that of an event of the run.

/** @throws TsaltError `wire-protocol` for a malformed start of a state */
export const readStarted = (said: unknown): StateStarted => {
  if (!isPlainDict(said) || !areTexts(said.tag, said.fun) || !isScalar(said.id))
    throw misshapen('event "state-start"');
  const { tag, id, fun, name } = said as StateStarted;
  // A host-supplied `toString` that is not a function would break string conversion.
  return { tag, id, fun, name: isScalar(name) ? name : JSON.stringify(name) };
};

/**
 * Reads the start of a state from the event of its end, if the host sent both as one.
 *
 * @throws TsaltError `wire-protocol` for a malformed one
 */
export const readBegan = (said: unknown): StateStarted | undefined => {
  if (!isPlainDict(said) || said.began === undefined) return undefined;
  if (!Array.isArray(said.began) || said.began.length !== 3) throw misshapen('event "state"');
  const [id, fun, name] = said.began;
  return readStarted({ tag: said.tag, id, fun, name });
};

/** @throws TsaltError `wire-protocol` for a malformed response to a call */
export const readCalled = (said: unknown): CallResult => {
  if (isPlainDict(said) && said.value !== undefined && Number.isSafeInteger(said.retcode))
    return said as CallResult;
  throw misshapen('answer to "call"');
};

/** @throws TsaltError `wire-protocol` for a malformed response to `grains` */
export const readCollected = (said: unknown): PlainDict => {
  if (isPlainDict(said)) return said;
  throw misshapen('answer to "grains"');
};

/** @throws TsaltError `wire-protocol` for a malformed response to a run */
export const readRan = (said: unknown): RunResult => {
  if (
    isPlainDict(said) &&
    Number.isSafeInteger(said.retcode) &&
    areTexts(said.aborted ?? '') &&
    (said.restart === undefined || isRestart(said.restart))
  )
    return said as RunResult;
  throw misshapen('answer to "run"');
};

const isRestart = (said: unknown): boolean =>
  isPlainDict(said) &&
  areTexts(said.tag, said.boot, said.message ?? '') &&
  [said.delay, said.wait].every(time => typeof time === 'number' && time >= 0) &&
  isPlainDict(said.kept);

/** @throws TsaltError `wire-protocol` for a malformed finished state */
export const readFinished = (said: unknown): StateFinished => {
  if (
    isPlainDict(said) &&
    areTexts(said.tag, said.event ?? '') &&
    isStateResult(said.result, said.stack !== undefined)
  ) {
    const { tag, result, event, stack } = said as unknown as StateFinished;
    return {
      tag,
      result,
      ...(event === undefined ? {} : { event }),
      ...(stack === undefined ? {} : { stack }),
    };
  }
  throw misshapen('event "state"');
};

/** @throws TsaltError `wire-protocol` for a malformed line of a log */
export const readLine = (said: unknown): LogLine => {
  if (isPlainDict(said) && areTexts(said.module, said.message) && levels.has(said.level)) {
    const { level, module, message, stack } = said as unknown as LogLine;
    return { level, module, message, ...(stack === undefined ? {} : { stack }) };
  }
  throw misshapen('event "log"');
};

/** @throws TsaltError `wire-protocol` for malformed output of a state */
export const readOutput = (said: unknown): OutputPiece => {
  if (
    isPlainDict(said) &&
    areTexts(said.tag, said.text) &&
    (said.stream === 'stdout' || said.stream === 'stderr') &&
    Number.isSafeInteger(said.dropped ?? 0) &&
    Number(said.dropped ?? 1) > 0
  ) {
    const { tag, stream, text, dropped } = said as unknown as OutputPiece;
    return { tag, stream, text, ...(dropped === undefined ? {} : { dropped }) };
  }
  throw misshapen('event "output"');
};

/** @throws TsaltError `wire-protocol` for a malformed event of a module */
export const readSent = (said: unknown): ModuleEvent => {
  if (isPlainDict(said) && areTexts(said.tag) && said.data !== undefined)
    return { tag: said.tag as string, data: said.data };
  throw misshapen('event "event"');
};

const levels = new Set<unknown>(['trace', 'debug', 'info', 'warning', 'error', 'critical']);

const isScalar = (value: unknown): boolean => typeof value !== 'object' || value === null;

const areTexts = (...values: readonly unknown[]): boolean =>
  values.every(value => typeof value === 'string');

/**
 * Whether this is the result of a state. A module's comment may be anything; that of a state that
 * threw is text.
 */
export const isStateResult = (said: unknown, threw = false): said is PlainDict =>
  isPlainDict(said) &&
  (!threw || areTexts(said.comment)) &&
  areTexts(said.start_time ?? '') &&
  [said.__id__, said.__sls__].every(isScalar) &&
  isPlainDict(said.changes) &&
  (said.result === null || typeof said.result === 'boolean') &&
  [said.duration ?? 0, said.__run_num__ ?? 0].every(value => typeof value === 'number');

const misshapen = (what: string): TsaltError => broken(`a malformed ${what}`);
