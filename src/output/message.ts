import { showError, TsaltError } from '../protocol/error.ts';
import type { RunEvent } from '../protocol/event.ts';
import type { LogLevel } from '../protocol/job.ts';
import { harmless } from './text.ts';

const levels = ['trace', 'debug', 'info', 'warning', 'error', 'critical', 'quiet'] as const;

/** Whether a line of this level is shown when `least` is asked for. */
export const isLogged = (level: LogLevel, least: LogLevel | 'quiet'): boolean =>
  levels.indexOf(level) >= levels.indexOf(least);

/** A log line as Salt's console shows it; of a host's line it says which module of which host. */
export const logLine = ({ level, host, module, message }: LogEvent): string => {
  const from = host === undefined ? '' : `${harmless(host)}: ${harmless(module)}: `;
  return `[${level.toUpperCase().padEnd(8)}] ${from}${harmless(message)}`;
};

type LogEvent = RunEvent & { readonly type: 'log' };

/** What a person sees of an error: one sentence, the place, what to do; never a stack. */
export const errorText = (error: unknown): string =>
  error instanceof TsaltError
    ? `tsalt-ssh: ${harmless(showError(error))}`
    : `tsalt-ssh: this should not happen: ${harmless(showError(error))}`;
