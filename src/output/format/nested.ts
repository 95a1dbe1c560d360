import { palette } from '../color.ts';
import type { Format } from '../format.ts';
import { nested } from '../nested.ts';
import { dataByHost, forPeople } from '../result.ts';

/** Salt's nested outputter. */
export const nestedFormat: Format = {
  faults: true,
  format: (results, { color }) =>
    nested(dataByHost(results.map(forPeople)), { colors: palette(color) }),
};
