import { raise } from '../jinja-error.ts';
import { wholeNumber } from '../values/number.ts';
import { typeName } from '../values/text.ts';
import type { Value } from '../values/value.ts';

/** A text or None. */
export const optionalString = (
  value: Value | undefined,
  otherwise: string | null,
): string | null => {
  if (value === undefined) return otherwise;
  if (value === null || typeof value === 'string') return value;
  return raise(`must be str or None, not ${typeName(value)}`);
};

/** A text and nothing else. */
export const stringArgument = (value: Value | undefined): string =>
  typeof value === 'string' ? value : raise(`must be str, not ${typeName(value ?? null)}`);

/** A whole number. */
export const count = (value: Value | undefined, otherwise = 0): number =>
  value === undefined
    ? otherwise
    : (wholeNumber(value) ??
      raise(`'${typeName(value)}' object cannot be interpreted as an integer`));
