import { type Plain, SaltInvocationError } from '../api.ts';

/**
 * Returns a value of rc.conf(5): YAML reads YES as a boolean and 1 as a number.
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
