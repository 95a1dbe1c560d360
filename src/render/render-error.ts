import { excerptOf } from '../data/excerpt.ts';
import { TsaltError } from '../protocol/error.ts';

export type RenderPosition = {
  readonly file: string;
  readonly text: string;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
};

/** Makes a rendering error with its position and the lines around it. */
export const renderError = (
  code: string,
  message: string,
  { file, text, line, column }: RenderPosition,
  options: { readonly hint?: string | undefined; readonly cause?: unknown } = {},
): TsaltError =>
  new TsaltError(code, message, {
    kind: 'render',
    at: {
      file,
      ...(line === undefined ? {} : { line }),
      ...(line === undefined || column === undefined ? {} : { column }),
    },
    excerpt: line === undefined ? undefined : excerptOf(text, line),
    ...options,
  });
