import type { Data } from '../data/value.ts';
import { loadYamlex } from '../yaml/yamlex.ts';
import type { Stage } from './types.ts';

/** YAML with `!aggregate` and `!reset`. */
export const renderYamlex = (text: string, { request }: Stage): Data =>
  loadYamlex(text, { file: request.file }) ?? new Map();
