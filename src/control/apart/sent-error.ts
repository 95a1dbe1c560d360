import { messageOf, TsaltError } from '../../protocol/error.ts';
import type { SentTsaltError } from './jobs.ts';

/** A host may have written most of a message, so it is cut here. */
const longest = 20_000;

const cut = (text: string): string =>
  text.length > longest ? `${text.slice(0, longest)} …` : text;

const cutOptional = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : cut(text);

/** Converts an error into data that can be sent to another thread. */
export const encodeError = (error: unknown): SentTsaltError => {
  if (!(error instanceof TsaltError))
    return { code: 'internal', message: cut(messageOf(error)), kind: 'internal' };
  const { code, message, kind, at, hint, excerpt, saltText } = error;
  return {
    code,
    message: cut(message),
    kind,
    at,
    hint: cutOptional(hint),
    excerpt: cutOptional(excerpt),
    saltText: cutOptional(saltText),
  };
};

/** Restores the error that was sent. */
export const decodeError = ({ code, message, ...options }: SentTsaltError): TsaltError =>
  new TsaltError(code, message, options);
