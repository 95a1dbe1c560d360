import type { Operations } from '../run/run.ts';
import { combineFilters } from './combine.ts';
import { jinjaHostFilters } from './host.ts';
import { numberFilters } from './number.ts';
import { oddFilters } from './odds.ts';
import { pythonTypeFilters } from './python-types.ts';
import { regexFilters } from './regex.ts';
import { jinjaSaltFilters } from './salt.ts';
import { selectFilters } from './select.ts';
import { sequenceFilters } from './sequence.ts';
import { jinjaTextFilters } from './text.ts';

/** All filters: Jinja's, overridden by Salt's. */
export const filters: Operations = new Map([
  ...jinjaTextFilters,
  ...numberFilters,
  ...sequenceFilters,
  ...selectFilters,
  ...jinjaSaltFilters,
  ...pythonTypeFilters,
  ...regexFilters,
  ...combineFilters,
  ...oddFilters,
  ...jinjaHostFilters,
]);
