import { TsaltError } from './error.ts';

/** Position of a stack frame in the artifact's text: line and column, 1-based. */
export type StackPosition = readonly [line: number, column: number];

/** The text that the loader on the host puts before the artifact, on its first line. */
export const artifactHead = '(function(require,process,TS){';

/** The text that it puts after the artifact. */
export const artifactTail = '\n})';

/** The name of an artifact's file is its hash, in any folder. */
const frame = /[0-9a-f]{64}\.js:(\d+):(\d+)/;
const mostPositions = 30;

/**
 * Returns the stack frames of an error that are in the artifact, innermost first. For a
 * `TsaltError`, those of its cause. Undefined if there are none.
 */
export const positionsOf = (error: unknown): StackPosition[] | undefined => {
  const thrown = error instanceof TsaltError ? error.cause : error;
  if (!(thrown instanceof Error)) return undefined;
  const positions = String(thrown.stack)
    .split('\n')
    .flatMap((line): StackPosition[] => {
      const [, row, column] = frame.exec(line) ?? [];
      return row === undefined ? [] : [[Number(row), Number(column)]];
    });
  return positions.length > 0 ? positions : undefined;
};

/** Reads host-supplied (untrusted) positions; drops malformed ones. */
export const readPositions = (said: unknown): StackPosition[] =>
  Array.isArray(said) ? said.slice(0, mostPositions).filter(isPosition) : [];

const isPosition = (item: unknown): item is StackPosition =>
  Array.isArray(item) &&
  item.length === 2 &&
  item.every(part => Number.isSafeInteger(part) && (part as number) > 0);
