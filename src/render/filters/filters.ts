import { dictFilters } from './dict.ts';
import type { FilterTable } from './filter.ts';
import { formatFilters } from './format.ts';
import { hashFilters } from './hash.ts';
import { listFilters } from './list.ts';
import { networkFilters } from './network.ts';
import { randomFilters } from './random.ts';
import { textFilters } from './text.ts';

/** Salt's filters under Salt's names, for all template languages. */
export const saltFilters: FilterTable = {
  ...formatFilters,
  ...textFilters,
  ...listFilters,
  ...dictFilters,
  ...hashFilters,
  ...randomFilters,
  ...networkFilters,
};
