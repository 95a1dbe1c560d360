import type { Operations } from '../run/run.ts';
import { combineFilters } from './combine.ts';
import { hostFilters } from './host.ts';
import { numberFilters } from './number.ts';
import { oddFilters } from './odds.ts';
import { pythonTypeFilters } from './python-types.ts';
import { regexFilters } from './regex.ts';
import { saltFilters } from './salt.ts';
import { selectFilters } from './select.ts';
import { sequenceFilters } from './sequence.ts';
import { textFilters } from './text.ts';

/** All filters: Jinja's, and Salt's over them. */
export const filters: Operations = new Map([
  ...textFilters,
  ...numberFilters,
  ...sequenceFilters,
  ...selectFilters,
  ...saltFilters,
  ...pythonTypeFilters,
  ...regexFilters,
  ...combineFilters,
  ...oddFilters,
  ...hostFilters,
]);
