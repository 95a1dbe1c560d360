import { expect } from 'vitest';

/** An object with nothing in it. Inside `toMatchObject`, `{}` would match any object. */
export const nothing: unknown = expect.toSatisfy(
  value => typeof value === 'object' && value !== null && Object.keys(value).length === 0,
  'nothing',
);
