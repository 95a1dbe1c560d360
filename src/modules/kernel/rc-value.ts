import { type Plain, SaltInvocationError } from '../api.ts';

/**
 * A value of rc.conf(5): YAML makes a truth value of YES and a number of 1.
 *
 * @throws SaltInvocationError for a list or a dict
 */
export const rcValue = (value: Plain): string => {
  if (typeof value === 'boolean') return value ? 'YES' : 'NO';
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  throw new SaltInvocationError(
    `A setting is a text, a number or a truth value, not ${JSON.stringify(value)}.`,
  );
};
