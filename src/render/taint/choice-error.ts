import type { Ranges } from '../../data/taint.ts';
import { type SourceLocation, TsaltError } from '../../protocol/error.ts';

/**
 * Returns the error for a choice that a host must not make.
 *
 * @param owner the host
 * @param choice the object of the choice, as in "would choose …"
 */
export const choiceError = (
  owner: string,
  ranges: Ranges,
  choice: string,
  {
    at,
    hint,
    excerpt,
  }: {
    readonly at?: SourceLocation | undefined;
    readonly hint?: string | undefined;
    readonly excerpt?: string | undefined;
  } = {},
): TsaltError =>
  new TsaltError('render-tainted', `${owner}'s ${ranges[0].source} would choose ${choice}.`, {
    kind: 'render',
    at,
    excerpt,
    hint: hint ?? 'Compare it with the values that you expect, and write the choice out.',
  });
