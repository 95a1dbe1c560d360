import { TsaltError } from '../protocol/error.ts';

/** Returns the error for an invalid value of an option. */
export const badValue = (name: string, value: string, expected: string): TsaltError =>
  new TsaltError('usage-value', `The value of --${name} must be ${expected}, not '${value}'.`);

/**
 * Reads an option that is a number of seconds.
 *
 * @throws TsaltError `usage-value` for anything but a number above `least`
 */
export const numberOf = (name: string, value: unknown, least: number): number | undefined => {
  const text = typeof value === 'string' ? value : undefined;
  if (text === undefined) return undefined;
  const number = Number(text);
  if (text.trim() !== '' && Number.isFinite(number) && number > least) return number;
  throw badValue(name, text, 'a number of seconds above 0');
};

/**
 * Reads an option that is a count.
 *
 * @throws TsaltError `usage-value` for anything but a whole number above 0
 */
export const wholeNumberOf = (name: string, value: unknown): number | undefined => {
  const text = typeof value === 'string' ? value : undefined;
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw badValue(name, text, 'a whole number above 0');
};
