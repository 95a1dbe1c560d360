import type { RunEvent } from '../protocol/event.ts';
import type { LogLevel } from '../protocol/job.ts';
import { jsonText } from './format/json.ts';
import { stateOutcome } from './highstate.ts';
import { hostOutcome } from './host-outcome.ts';
import { isLogged } from './message.ts';
import type { Output, OutputRequest } from './request.ts';
import { errorTexts, hide } from './result.ts';
import { showValue } from './text.ts';

type Line = {
  readonly level: LogLevel;
  readonly host?: string;
  readonly state?: string;
  readonly module?: string;
  readonly message: string;
};

/** Characters of a message: a host may send megabytes. */
const longest = 10_000;

type Wanted = Pick<OutputRequest, 'complain' | 'logLevel' | 'logFile' | 'jsonLog'>;

/** Makes messages for standard error lines of JSON; each has the time, the level and the JID. */
export const jsonDiagnostic =
  (request: Wanted) =>
  (text: string): void =>
    request.complain(lineOf(request, { level: 'error', message: text.trimEnd() }));

/** Adds a log of the run's events as lines of JSON: to standard error, and to the log file. */
export const withJsonLog = (output: Output, request: Wanted): Output => ({
  emit: event => {
    for (const line of linesOf(event)) {
      if (isLogged(line.level, request.logLevel)) request.complain(lineOf(request, line));
      if (request.logFile && isLogged(line.level, request.logFile.level))
        request.logFile.write(lineOf(request, line));
    }
    output.emit(event);
  },
  pause: () => output.pause(),
  finish: () => output.finish(),
  fail: error => output.fail(error),
});

const lineOf = ({ jsonLog }: Wanted, { level, message, ...rest }: Line): string => {
  const jid = jsonLog?.jid();
  const cut = message.length > longest ? `${message.slice(0, longest)} … [cut]` : message;
  const time = new Date().toISOString();
  const fields = { time, level, ...(jid === undefined ? {} : { jid }), ...rest, message: cut };
  return `${jsonText(fields)}\n`;
};

const linesOf = (event: RunEvent): Line[] => {
  switch (event.type) {
    case 'start':
      return [{ level: 'info', message: `${event.fun} starts on ${event.hosts.length} hosts` }];
    case 'phase': {
      const message = [event.phase, event.detail].filter(part => part !== undefined).join(' ');
      return [{ level: 'debug', host: event.host, message }];
    }
    case 'state-start':
      return [{ level: 'debug', host: event.host, state: event.tag, message: 'started' }];
    case 'output':
      return [{ level: 'debug', host: event.host, state: event.tag, message: event.text }];
    case 'state':
      return [stateLine(event)];
    case 'log': {
      const { level, host, module, message, trace = [] } = event;
      const whole = [message, ...trace.map(place => `at ${place}`)].join('\n');
      return [{ level, ...(host === undefined ? {} : { host }), module, message: whole }];
    }
    case 'host':
      return hostLines(event);
    case 'event':
      return [{ level: 'info', host: event.host, message: `event ${event.tag}` }];
    case 'step':
      return linesOf(event.event);
    case 'not-started':
      return event.hosts.map(host => ({ level: 'warning', host, message: event.reason }));
    default:
      return [];
  }
};

const stateLine = ({ host, tag, result: given }: RunEvent & { type: 'state' }): Line => {
  const result = given.no_log === true ? hide(given) : given;
  const outcome = stateOutcome(result);
  return {
    level: outcome === 'Failed' ? 'error' : 'info',
    host,
    state: tag,
    message: `${outcome}: ${showValue(result.comment).trim()}`,
  };
};

const hostLines = ({ result }: RunEvent & { type: 'host' }): Line[] => {
  const { id: host, failure, retcode } = result;
  const faults = errorTexts(result).map((message): Line => ({ level: 'error', host, message }));
  if (failure !== undefined) return [...faults, { level: 'error', host, message: failure.message }];
  const message = `${hostOutcome(result)}, exit code ${retcode}`;
  return [...faults, { level: retcode === 0 ? 'info' : 'error', host, message }];
};
