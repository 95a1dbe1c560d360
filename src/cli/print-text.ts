import type { TsaltError } from '../protocol/error.ts';
import { exitCode, exitCodeOfError, gravest } from './exit-code.ts';
import { print, standardOutputError } from './standard-output.ts';

/**
 * Writes a text to standard output.
 *
 * @returns `code`, or the code of an error of the output where that is more severe
 */
export const printText = async (text: string, code: number = exitCode.ok): Promise<number> => {
  print(text);
  return withOutputError(code, await standardOutputError());
};

/** Reports that the output is incomplete. What happened on the hosts may be more severe. */
export const withOutputError = async (
  code: number,
  error: TsaltError | undefined,
  hint?: string,
): Promise<number> => {
  if (error === undefined) return code;
  const { errorText } = await import('../output/message.ts');
  const text = [errorText(error), hint].filter(part => part !== undefined).join('\n');
  process.stderr.write(`${text}\n`);
  return gravest(new Set([code, exitCodeOfError(error)]));
};
