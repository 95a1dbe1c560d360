import type { PlainDict } from '../../protocol/plain.ts';
import type { StateResult } from '../../protocol/result.ts';
import { positionsOf, type StackPosition } from '../../protocol/stack.ts';

const key = '__stack__';

/** Adds the position of an error to the result of the state that it ended. */
export const stackOf = (error: unknown): PlainDict => {
  const positions = positionsOf(error);
  return positions === undefined ? {} : { [key]: positions.map(position => [...position]) };
};

/** Removes the stack from the result, since other states must not see it. */
export const takeStack = (result: StateResult): readonly StackPosition[] | undefined => {
  const positions = result[key] as readonly StackPosition[] | undefined;
  if (positions !== undefined) delete result[key];
  return positions;
};
