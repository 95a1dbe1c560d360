import { excerptOf } from '../../data/excerpt.ts';
import { messageOf, TsaltError } from '../../protocol/error.ts';
import { renderError } from '../render-error.ts';
import { JinjaError, type TemplatePosition } from './jinja-error.ts';
import type { Run } from './run/run.ts';

type Page = { readonly file: string; readonly text: string };

/** Describes an error in a template in Salt's words, with its position and call stack. */
export const reportJinjaError = (error: unknown, run: Run, page: Page): TsaltError => {
  if (error instanceof TsaltError) return error;
  const fault = error instanceof JinjaError ? error : unexpected(error);
  const spot = fault.spot ?? run.spot;
  const { cause } = fault;
  const inner = cause instanceof TsaltError ? cause : undefined;
  const hint = [inner?.hint, fault.hint, calledFrom(run.callers, spot)]
    .filter(part => part !== undefined && part !== '')
    .join('\n');
  const report = renderError(
    inner ? inner.code : `jinja-${fault.kind}`,
    fault.sentence,
    spot
      ? { file: fileOf(spot, page), text: spot.source.text, line: spot.line }
      : { file: page.file, text: page.text },
    { ...(hint === '' ? {} : { hint }), ...(cause === undefined ? {} : { cause }) },
  );
  return new TsaltError(report.code, report.message, {
    ...report,
    kind: inner && inner.kind !== 'usage' ? inner.kind : report.kind,
    cause,
    saltText: saltText(fault, fault.spot ?? run.saltSpot, page),
  });
};

/**
 * Salt appends line and excerpt to the sentence. It looks the line up in the rendered file, even if
 * it belongs to another one; if the file has no such line, it shows the whole file.
 */
const saltText = (
  { saltSentence, kind }: JinjaError,
  spot: TemplatePosition | undefined,
  { text }: Page,
): string | undefined => {
  if (!spot || kind === 'error' || kind === 'missing' || kind === 'limit') return undefined;
  const lines = text.replace(/\n$/, '').split('\n').length;
  return `${saltSentence}; line ${spot.line}\n\n${spot.line > lines ? text : excerptOf(text, spot.line)}`;
};

const fileOf = ({ source }: TemplatePosition, page: Page): string =>
  source.text === page.text ? page.file : source.file;

const unexpected = (error: unknown): JinjaError =>
  error instanceof RangeError
    ? new JinjaError('limit', `the template needs too much: ${error.message}`, { cause: error })
    : new JinjaError('error', messageOf(error), { cause: error });

/** Returns the import stack, innermost first. */
const calledFrom = (
  callers: readonly TemplatePosition[],
  spot: TemplatePosition | undefined,
): string => {
  const lines = callers
    .filter(caller => caller !== spot)
    .map(({ source, line }) => `called from ${source.name}:${line}`);
  return [...new Set(lines.reverse())].slice(0, 10).join('\n');
};
