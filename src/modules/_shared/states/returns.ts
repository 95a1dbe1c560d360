import { planOption } from '../../../protocol/plan.ts';
import { __opts__, type PlainDict, type StateReturn } from '../../api.ts';

/** A state's answer, to be filled: nothing to do, all well. */
export const newReturn = (name: string): StateReturn => ({
  name,
  changes: {},
  result: true,
  comment: '',
});

/** All is as wanted. */
export const unchanged = (name: string, comment: string): StateReturn => ({
  ...newReturn(name),
  comment,
});

/**
 * It could not be done. `of` is the state's name, or its answer so far, whose changes stay.
 */
export const failed = (
  of: string | StateReturn,
  comment: string,
  changes: PlainDict = typeof of === 'string' ? {} : of.changes,
): StateReturn => ({
  ...(typeof of === 'string' ? newReturn(of) : of),
  changes,
  result: false,
  comment,
});

/** Test mode: this would change. */
export const would = (name: string, comment: string, changes: PlainDict = {}): StateReturn => ({
  ...newReturn(name),
  changes,
  result: null,
  comment,
});

/** It was changed. */
export const changed = (name: string, comment: string, changes: PlainDict): StateReturn => ({
  ...newReturn(name),
  changes,
  comment,
});

/**
 * Returns changes that Salt's test mode does not predict: in a run whose predictions are kept in a
 * plan they are reported, else not.
 */
export const inPlan = (changes: PlainDict): PlainDict =>
  __opts__[planOption] === true ? changes : {};
