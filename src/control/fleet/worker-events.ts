import type { HostResult, RunEvent } from '../../protocol/event.ts';
import { broken } from '../../protocol/message.ts';
import { isPlainDict } from '../../protocol/plain.ts';
import {
  isStateResult,
  readFinished,
  readLine,
  readOutput,
  readSent,
  readStarted,
} from '../serve/reported-events.ts';
import { eventOf, type SentEvent } from '../workers/messages.ts';

// Workers elsewhere may have been taken over: their events are data of strangers, as those of hosts.

/** Nested levels of an event; hosts send at most 200 for a value. */
const deepest = 300;

/**
 * Reads an event of a worker elsewhere.
 *
 * @throws TsaltError `wire-protocol` for one that outputs cannot work with
 */
export const readWorkerEvent = (message: SentEvent): RunEvent => {
  const said: unknown = message.event;
  if (!isPlainDict(said) || !isShallow(message)) throw misshapen('an event');
  const host = said.host;
  if (host !== undefined && typeof host !== 'string') throw misshapen('an event');
  const event = message.event as RunEvent & { readonly host: string };
  if (event.type === 'state-start')
    return { type: event.type, host: event.host, ...readStarted(said) };
  if (event.type === 'state') readFinished(said);
  else if (event.type === 'output')
    return { type: event.type, host: event.host, ...readOutput(said) };
  else if (event.type === 'event') return { type: event.type, host: event.host, ...readSent(said) };
  else if (event.type === 'log') {
    readLine(said);
    if (!areTexts(said.trace ?? [])) throw misshapen('a line of a log');
  } else if (event.type === 'phase') {
    if (!areTexts([said.phase, said.detail ?? ''])) throw misshapen('a phase');
  } else if (event.type === 'plan') checkPlan(said, message);
  else if (event.type === 'host') checkResult(said.result);
  return eventOf(message);
};

/**
 * Reads the result of a function that a worker elsewhere called on a host.
 *
 * @throws TsaltError `wire-protocol`
 */
export const readWorkerAnswer = (said: unknown): HostResult | undefined => {
  if (said === undefined) return undefined;
  if (!isShallow(said)) throw misshapen('a result');
  checkResult(said);
  return said as HostResult;
};

const checkPlan = (
  { total }: { readonly [key: string]: unknown },
  { requisites, job }: SentEvent,
): void => {
  const isRight =
    Number.isSafeInteger(total) &&
    (requisites === undefined ||
      (isPlainDict(requisites) && areTexts(requisites.tags) && areEdges(requisites.edges))) &&
    (job === undefined || isJob(job));
  if (!isRight) throw misshapen('a plan');
};

const checkResult = (said: unknown): void => {
  const isRight =
    isPlainDict(said) &&
    areTexts([said.id, said.fun, said.outputter ?? '']) &&
    [said.retcode, said.leftOut ?? 0].every(Number.isSafeInteger) &&
    (said.states === undefined ||
      (isPlainDict(said.states) &&
        Object.values(said.states).every(state => isStateResult(state)))) &&
    (said.failure === undefined ||
      (isPlainDict(said.failure) &&
        areTexts([said.failure.kind, said.failure.code, said.failure.message]))) &&
    (said.problems === undefined ||
      (Array.isArray(said.problems) && said.problems.every(isProblem)));
  if (!isRight) throw misshapen('a result');
};

const isProblem = (said: unknown): boolean =>
  isPlainDict(said) &&
  areTexts([said.message, said.sentence ?? '', said.hint ?? '', said.excerpt ?? '']) &&
  (said.at === undefined || (isPlainDict(said.at) && typeof said.at.file === 'string'));

const isJob = (said: unknown): boolean =>
  isPlainDict(said) &&
  areTexts([said.artifact, said.saltenv]) &&
  areTexts(said.secrets) &&
  isPlainDict(said.opts) &&
  isPlainDict(said.sources) &&
  areTexts(Object.values(said.sources)) &&
  isPlainDict(said.files) &&
  Object.values(said.files).every(files => isPlainDict(files) && areTexts(Object.values(files))) &&
  isPlainDict(said.folders) &&
  Object.values(said.folders).every(areTexts) &&
  Array.isArray(said.tainted) &&
  said.tainted.every(
    one => isPlainDict(one) && typeof one.text === 'string' && Array.isArray(one.ranges),
  ) &&
  Array.isArray(said.chunks) &&
  said.chunks.every(
    chunk => isPlainDict(chunk) && areTexts([chunk.state, chunk.fun, chunk.__id__]),
  );

const areEdges = (said: unknown): boolean =>
  Array.isArray(said) &&
  said.every(
    edge =>
      Array.isArray(edge) &&
      Number.isSafeInteger(edge[0]) &&
      Number.isSafeInteger(edge[1]) &&
      typeof edge[2] === 'string',
  );

const areTexts = (said: unknown): boolean =>
  Array.isArray(said) && said.every(value => typeof value === 'string');

/** Whether a value has a bounded depth: what walks through it later may be recursive. */
const isShallow = (value: unknown): boolean => {
  let layer: unknown[] = [value];
  for (let depth = 0; layer.length > 0; depth += 1) {
    if (depth > deepest) return false;
    layer = layer.flatMap(one =>
      typeof one === 'object' && one !== null ? Object.values(one) : [],
    );
  }
  return true;
};

const misshapen = (what: string): Error =>
  broken(`${what} of a worker that does not hold what it must`);
