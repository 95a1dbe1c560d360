import type { TsaltError } from '../protocol/error.ts';
import { exitCode, exitCodeOfError, mostSevereCode } from './exit-code.ts';
import { print, standardOutputError } from './standard-output.ts';

/**
 * Writes a text to standard output.
 *
 * @returns `code`, or the code of an output error if that is more severe
 */
export const printText = async (text: string, code: number = exitCode.ok): Promise<number> => {
  print(text);
  const error = await standardOutputError();
  return withOutputErrors(code, error === undefined ? [] : [error]);
};

/** Reports incomplete output. The hosts' own results may be more severe. */
export const withOutputErrors = async (
  code: number,
  errors: readonly TsaltError[],
  hint?: string,
): Promise<number> => {
  if (errors.length === 0) return code;
  const { errorText } = await import('../output/message.ts');
  const texts = [...errors.map(errorText), ...(hint === undefined ? [] : [hint])];
  process.stderr.write(`${texts.join('\n')}\n`);
  return mostSevereCode(new Set([code, ...errors.map(exitCodeOfError)]));
};
