import { TsaltError } from '../protocol/error.ts';

/**
 * The error of a file that holds passwords, to be shown: the lines around a fault without what
 * stands behind `passwd`, `token` and the like.
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
