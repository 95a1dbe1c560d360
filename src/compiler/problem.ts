import { excerptAt } from '../data/values/position.ts';
import { type SourceLocation, showError, TsaltError } from '../protocol/error.ts';

/**
 * One fault in what the user wrote. `message` is Salt's text, word for word, since scripts read
 * it; place and hint travel beside it.
 */
export type Problem = {
  readonly message: string;
  /** The same for people, where Salt's text repeats what travels beside it. */
  readonly sentence?: string | undefined;
  readonly at?: SourceLocation | undefined;
  /** The expected form, in one sentence. */
  readonly hint?: string | undefined;
  /** The lines around the fault, ready to print. */
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

/** An error as a problem: its sentence, place, excerpt and hint. */
export const problemOf = ({ message, at, hint, excerpt }: TsaltError): Problem => ({
  message,
  ...(at ? { at } : {}),
  ...(hint === undefined ? {} : { hint }),
  ...(excerpt === undefined ? {} : { excerpt }),
});

/** A problem as the user reads it: sentence, place, excerpt and hint. */
export const explained = ({ message, sentence, at, hint, excerpt }: Problem): string =>
  showError(new TsaltError('problem', sentence ?? message, { at, hint, excerpt }));

/** A text that did not render: Salt's own words for the reason stay in the message. */
export const renderProblem = (introduction: string, error: TsaltError): Problem => {
  const told = { ...problemOf(error), message: introduction + error.message };
  return error.saltText === undefined
    ? told
    : { ...told, message: introduction + error.saltText, sentence: told.message };
};
