import { excerptAt } from '../data/values/position.ts';
import { type SourceLocation, showError, TsaltError } from '../protocol/error.ts';

/**
 * One error in the user's files. `message` is Salt's text, word for word, because scripts read it;
 * position and hint are separate.
 */
export type Problem = {
  readonly message: string;
  /** The message for people, if Salt's text repeats the position or hint. */
  readonly sentence?: string | undefined;
  readonly at?: SourceLocation | undefined;
  /** The expected form, in one sentence. */
  readonly hint?: string | undefined;
  /** The lines around the error, ready to print. */
  readonly excerpt?: string | undefined;
};

export const problem = (
  message: string,
  at: SourceLocation | undefined,
  hint?: string,
): Problem => ({
  message,
  ...(at ? { at } : {}),
  ...(hint === undefined ? {} : { hint }),
  ...excerptFor(at),
});

const excerptFor = (at: SourceLocation | undefined): Pick<Problem, 'excerpt'> => {
  const excerpt = at && excerptAt(at, 2);
  return excerpt === undefined ? {} : { excerpt };
};

export const messagesOf = (problems: readonly Problem[]): string[] =>
  problems.map(({ message }) => message);

/** Converts an error to a problem: sentence, position, excerpt and hint. */
export const problemOf = ({ message, at, hint, excerpt }: TsaltError): Problem => ({
  message,
  ...(at ? { at } : {}),
  ...(hint === undefined ? {} : { hint }),
  ...(excerpt === undefined ? {} : { excerpt }),
});

/** Formats a problem for the user: sentence, position, excerpt and hint. */
export const explained = ({ message, sentence, at, hint, excerpt }: Problem): string =>
  showError(new TsaltError('problem', sentence ?? message, { at, hint, excerpt }));

/**
 * Returns the problem of a text that was not rendered: the message contains the reason in Salt's
 * words.
 */
export const renderProblem = (introduction: string, error: TsaltError): Problem => {
  const told = { ...problemOf(error), message: introduction + error.message };
  return error.saltText === undefined
    ? told
    : { ...told, message: introduction + error.saltText, sentence: told.message };
};
