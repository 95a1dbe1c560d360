import { showError, TsaltError } from '../protocol/error.ts';
import type { RunEvent } from '../protocol/event.ts';
import type { LogLevel } from '../protocol/job.ts';
import { harmless, oneLine } from './text.ts';

const levels = ['trace', 'debug', 'info', 'warning', 'error', 'critical', 'quiet'] as const;

/** Whether a line of this level is shown when `least` is asked for. */
export const isLogged = (level: LogLevel, least: LogLevel | 'quiet'): boolean =>
  levels.indexOf(level) >= levels.indexOf(least);

/**
 * Returns a log event as one line, like Salt's console; that of a host names the host and its module.
 * The way to an error follows in lines of its own.
 */
export const logLine = ({ level, host, module, message, trace = [] }: LogEvent): string => {
  const from = host === undefined ? '' : `${oneLine(host)}: ${oneLine(module)}: `;
  return `[${level.toUpperCase().padEnd(8)}] ${from}${oneLine(message)}${trace.map(place => `\n    at ${oneLine(place)}`).join('')}`;
};

type LogEvent = RunEvent & { readonly type: 'log' };

/** The text of an error for the user: one sentence, the location, what to do; never a stack. */
export const errorText = (error: unknown): string =>
  error instanceof TsaltError
    ? `tsalt-ssh: ${harmless(showError(error))}`
    : `tsalt-ssh: this should not happen: ${harmless(showError(error))}`;
