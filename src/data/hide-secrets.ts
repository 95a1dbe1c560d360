import { TsaltError } from '../protocol/error.ts';

/**
 * Returns the error of a file with passwords in a form that may be shown: without the values of
 * `passwd`, `token` and the like in the lines around.
 */
export const hideSecrets = (error: unknown): unknown => {
  if (!(error instanceof TsaltError) || error.excerpt === undefined) return error;
  const { code, message } = error;
  const excerpt = error.excerpt.replace(
    secret,
    (_, name: string, marker = '') => name + hidden + marker,
  );
  return new TsaltError(code, message, { ...error, excerpt, cause: error.cause });
};

const hidden = '…';
const secret =
  /^(.*?(?:passw(?:or)?d|_pass|secret|token)\w*["']?[ \t]*[:=][ \t]*)\S.*?( {4}<=+)?$/gim;
