import { closestMatch } from '../data/closest-match.ts';
import { TsaltError } from '../protocol/error.ts';
import type { LogLevel } from '../protocol/job.ts';

const levels: Readonly<Record<string, LogLevel | 'quiet'>> = {
  all: 'trace',
  garbage: 'trace',
  trace: 'trace',
  debug: 'debug',
  profile: 'debug',
  info: 'info',
  warning: 'warning',
  error: 'error',
  critical: 'critical',
  quiet: 'quiet',
};

/** Salt's names of log levels. Throws `usage-value` on any other. */
export const logLevelOf = (
  name: string,
  text: string | undefined,
): LogLevel | 'quiet' | undefined => {
  if (text === undefined) return undefined;
  const level = Object.hasOwn(levels, text) ? levels[text] : undefined;
  if (level !== undefined) return level;
  const meant = closestMatch(text, Object.keys(levels));
  throw new TsaltError('usage-value', `There is no log level '${text}'.`, {
    hint:
      meant === undefined
        ? `${name} takes ${Object.keys(levels).join(', ')}.`
        : `Did you mean '${meant}'?`,
  });
};
