import { TsaltError } from '../protocol/error.ts';
import { isPlainDict } from '../protocol/plain.ts';

/** Checks a parsed value; `path` names it in errors. */
export type Check<T> = (value: unknown, path: string) => T;

/** Returns the error of a malformed plan file. */
export const malformed = (path: string, expected: string): TsaltError =>
  new TsaltError('plan-malformed', `This is not a plan: ${path} is not ${expected}.`, {
    kind: 'render',
    hint: 'The file was cut off or changed. Make a new plan: --plan-out.',
  });

export const checkText: Check<string> = (value, path) => {
  if (typeof value === 'string') return value;
  throw malformed(path, 'a string');
};

export const checkIndex: Check<number> = (value, path) => {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw malformed(path, 'a whole number');
};

/** Hex SHA-256. */
export const checkHash: Check<string> = (value, path) => {
  if (typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)) return value;
  throw malformed(path, 'a SHA-256');
};

export const checkTime: Check<string> = (value, path) => {
  if (typeof value === 'string' && !Number.isNaN(Date.parse(value))) return value;
  throw malformed(path, 'a time');
};

/** Any JSON value. */
export const checkAnything: Check<never> = value => value as never;

export const checkOptional =
  <T>(check: Check<T>): Check<T | undefined> =>
  (value, path) =>
    value === undefined ? undefined : check(value, path);

export const checkOrNull =
  <T>(check: Check<T>): Check<T | null> =>
  (value, path) =>
    value === null ? null : check(value, path);

export const checkFlag: Check<boolean> = (value, path) => {
  if (typeof value === 'boolean') return value;
  throw malformed(path, 'true or false');
};

export const checkList =
  <T>(check: Check<T>): Check<T[]> =>
  (value, path) => {
    if (!Array.isArray(value)) throw malformed(path, 'a list');
    return value.map((item, at) => check(item, `${path}[${at}]`));
  };

/** A dictionary whose values have the same type. */
export const checkRecord =
  <T>(check: Check<T>): Check<Record<string, T>> =>
  (value, path) => {
    if (!isPlainDict(value)) throw malformed(path, 'a dictionary');
    for (const [key, item] of Object.entries(value)) check(item, `${path}.${key}`);
    return value as Record<string, T>;
  };

/** A dictionary with these keys; other keys are kept. */
export const checkObject =
  <T extends object>(checks: { readonly [K in keyof T]-?: Check<T[K]> }): Check<T> =>
  (value, path) => {
    if (!isPlainDict(value)) throw malformed(path, 'a dictionary');
    for (const key of Object.keys(checks) as (keyof T & string)[])
      checks[key](value[key], path === '' ? key : `${path}.${key}`);
    return value as T;
  };
