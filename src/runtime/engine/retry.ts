import { plainStr } from '../../modules/_shared/text/python-text.ts';
import { isPlainDict, type Plain } from '../../protocol/plain.ts';

export type Retry = {
  readonly until: boolean;
  readonly attempts: number;
  readonly interval: number;
  readonly splay: number;
};

const defaults: Retry = { until: true, attempts: 2, interval: 30, splay: 0 };

/** Reads `retry` of a chunk; each value of a wrong type is replaced by its default. */
export const readRetry = (data: Plain | undefined): Retry => {
  if (!isPlainDict(data)) return defaults;
  const count = (key: 'attempts' | 'interval' | 'splay'): number => {
    const value = data[key];
    if (typeof value === 'boolean') return Number(value);
    return typeof value === 'number' && Number.isInteger(value) ? value : defaults[key];
  };
  return {
    until: typeof data.until === 'boolean' ? data.until : defaults.until,
    attempts: count('attempts'),
    interval: count('interval'),
    splay: count('splay'),
  };
};

export const retryNote = ({ until, attempts, interval, splay }: Retry): string =>
  `The state would be retried every ${interval} seconds (with a splay of up to ${splay} seconds) ` +
  `a maximum of ${attempts} times or until a result of ${plainStr(until)} is returned`;

export const attemptNote = (attempt: number, result: unknown, comment: unknown): string =>
  `Attempt ${attempt}: Returned a result of "${plainStr(result)}", ` +
  `with the following comment: "${plainStr(comment)}"`;

/** Seconds until the next attempt. */
export const nextInterval = ({ interval, splay }: Retry): number =>
  interval + (splay > 0 ? Math.floor(Math.random() * (splay + 1)) : 0);
