import { messageOf } from '../../protocol/error.ts';
import { redact } from '../_shared/sources/url-login.ts';
import { failed } from '../_shared/states/returns.ts';
import { __opts__, type StateReturn } from '../api.ts';

/** Joins comments like Salt's git states: one comment unchanged, several as sentences. */
export const sentences = (comments: readonly string[]): string =>
  `${comments.join('. ')}${comments.length > 1 ? '.' : ''}`;

/** Returns the result of a state that made no changes, apart from those that do not count. */
export const upToDate = (
  ret: StateReturn,
  path: string,
  comments: readonly string[] = [],
  isDirty = false,
): StateReturn => {
  const open = isDirty
    ? ", but with uncommitted changes. Set 'force_reset' to True to purge uncommitted changes."
    : '';
  const done =
    comments.length === 0
      ? ''
      : `\n\nChanges ${__opts__.test ? 'that would be ' : ''}made: ${sentences(comments)}`;
  return { ...ret, comment: `Repository ${path} is up-to-date${open}${done}` };
};

/** Returns a failure that lists the changes already made. */
export const failedAfter = (
  ret: StateReturn,
  message: string,
  comments: readonly string[] = [],
): StateReturn =>
  failed(
    ret,
    comments.length === 0 ? message : `${message}\n\nChanges already made: ${sentences(comments)}`,
  );

/** Returns git's error message without the command. */
export const gitMessage = (error: unknown): string =>
  redact(messageOf(error)).replace(/^Command ['"].+['"] failed: /, '');

export const shortSha = (sha: string | null): string => (sha === null ? 'None' : sha.slice(0, 7));
