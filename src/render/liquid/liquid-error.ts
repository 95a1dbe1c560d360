import { LiquidError } from 'liquidjs';
import { messageOf, TsaltError } from '../../protocol/error.ts';
import { renderError } from '../render-error.ts';

type Located = {
  readonly message: string;
  readonly originalError?: unknown;
  readonly token?: {
    readonly input: string;
    readonly file?: string;
    readonly getPosition: () => [number, number];
  };
};

type Page = {
  readonly file: string;
  readonly tplfile: string;
  readonly text: string;
  readonly fileOf: (text: string) => string | undefined;
  /** Returns the file on the control node for a path inside the roots. */
  readonly fileIn: (path: string) => string;
};

/** Converts a Liquid error: the reason, the template, and the lines around. */
export const liquidError = (error: unknown, page: Page): TsaltError => {
  const { file, text, tplfile } = page;
  if (error instanceof TsaltError) return error;
  if (!LiquidError.is(error))
    return renderError('liquid-failed', `Liquid failed: ${messageOf(error)}.`, { file, text });
  const located = error as unknown as Located;
  const { token, originalError } = located;
  if (originalError instanceof TsaltError && originalError.excerpt !== undefined)
    return originalError;
  const [line, column] = token?.getPosition() ?? [];
  const own = token?.input === undefined || token.input === text;
  const written = own ? tplfile : (page.fileOf(token.input) ?? token.file ?? tplfile);
  const place = written === tplfile ? file : page.fileIn(written);
  const spot = { file: place, text: token?.input ?? text, line, column };
  const reason = reasonOf(located);
  const undefinedName = /^undefined variable: (.*)$/.exec(reason)?.[1];
  if (undefinedName !== undefined)
    return renderError(
      'liquid-undefined',
      `Liquid variable '${undefinedName}' is undefined`,
      spot,
      {
        hint: 'Give it a value, or write `| default: …` behind it.',
      },
    );
  if (/^undefined filter: /.test(reason))
    return renderError('liquid-filter', `Liquid filter '${reason.slice(18)}' is unknown`, spot);
  const kind =
    error.name === 'ParseError' || error.name === 'TokenizationError' ? 'syntax error' : 'error';
  const code =
    originalError instanceof TsaltError
      ? originalError.code
      : `liquid-${kind.replace('syntax error', 'syntax')}`;
  return renderError(code, `Liquid ${kind}: ${reason}`, spot, {
    hint: originalError instanceof TsaltError ? originalError.hint : undefined,
  });
};

const reasonOf = ({ message, originalError }: Located): string => {
  let inner: unknown = originalError;
  let reason = message;
  while (inner instanceof Error) {
    reason = inner.message;
    inner = (inner as unknown as Located).originalError;
  }
  // A host may have written most of it.
  return reason.slice(0, longestReason).replace(/, (?:file:.*, )?line:\d+, col:\d+$/, '');
};

const longestReason = 5000;
