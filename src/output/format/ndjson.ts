import { collectGarbage } from '../../memory/collect-garbage.ts';
import { messageOf, TsaltError } from '../../protocol/error.ts';
import type { HostResult, RunEvent } from '../../protocol/event.ts';
import { writeJson } from '../json-pieces.ts';
import { errorText, isLogged } from '../message.ts';
import type { Output, OutputRequest } from '../request.ts';
import { hide, hideResultSecrets, unshowable, withCauses } from '../result.ts';
import { resultSize } from '../size.ts';
import { jsonText } from './json.ts';

/** Every event of the run as a line of JSON, the moment it happens. */
export const ndjsonOutput = ({ write, complain, logLevel }: OutputRequest): Output => ({
  emit: event => {
    if (event.type === 'log' && !isLogged(event.level, logLevel)) return;
    writeLine(event, write);
  },
  pause: () => Promise.resolve(() => undefined),
  finish: () => Promise.resolve(),
  fail: error => {
    complain(`${errorText(error)}\n`);
    const time = new Date().toISOString();
    write(`${jsonText({ time, type: 'error', ...errorFields(error) })}\n`);
    return Promise.resolve();
  },
});

/** A host whose data is not valid JSON must not end the run of the others. */
const writeLine = (event: RunEvent, write: (text: string) => void): void => {
  const time = new Date().toISOString();
  try {
    const fields = { time, ...withoutSecrets(event) };
    if (event.type !== 'host' || resultSize(event.result) < large) {
      write(`${jsonText(fields)}\n`);
      return;
    }
    writeJson(fields, write);
    write('\n');
    collectGarbage();
  } catch (error) {
    if (event.type !== 'host') throw error;
    write(`${jsonText({ time, type: 'host', result: unshowable(event.result, error) })}\n`);
  }
};

/** Characters of a result that is written in pieces. */
const large = 1_000_000;

const errorFields = (error: unknown): object => {
  if (!(error instanceof TsaltError)) return { kind: 'internal', message: messageOf(error) };
  const { code, kind, message, at, hint } = error;
  return { code, kind, message, at, hint };
};

const withoutSecrets = (event: RunEvent): RunEvent => {
  if (event.type === 'step') return { ...event, event: withoutSecrets(event.event) };
  if (event.type === 'state' && event.result.no_log === true)
    return { ...event, result: hide(event.result) };
  if (event.type !== 'host') return event;
  const result = withSentences(withCauses(event.result));
  if (result.states !== undefined)
    return { ...event, result: { ...result, states: hideResultSecrets(result.states) } };
  return { ...event, result };
};

/** Faults are read by programs one by one: each says what is wrong in its own message. */
const withSentences = (result: HostResult): HostResult =>
  result.problems === undefined
    ? result
    : {
        ...result,
        problems: result.problems.map(({ sentence, ...fault }) => ({
          ...fault,
          message: sentence ?? fault.message,
        })),
      };
