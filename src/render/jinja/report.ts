import path from 'node:path';
import { TsaltError } from '../../protocol/error.ts';
import { messageOf, renderFault } from '../fault.ts';
import { JinjaFault, type Spot } from './fault.ts';
import type { Run } from './run/run.ts';

type Page = { readonly file: string; readonly text: string };

/** What went wrong in a template, in Salt's words, with the place and how it came there. */
export const reportFault = (error: unknown, run: Run, page: Page): TsaltError => {
  if (error instanceof TsaltError) return error;
  const fault = error instanceof JinjaFault ? error : unexpected(error);
  const spot = fault.spot ?? run.spot;
  const { cause } = fault;
  const inner = cause instanceof TsaltError ? cause : undefined;
  const hint = [inner?.hint, fault.hint, calledFrom(run.callers, spot)]
    .filter(part => part !== undefined && part !== '')
    .join('\n');
  const report = renderFault(
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
    saltText: saltText(report, spot, page),
  });
};

/** Salt puts line and excerpt behind the sentence, or the other file where it is not the page's. */
const saltText = (
  { message, at, excerpt }: TsaltError,
  spot: Spot | undefined,
  page: Page,
): string | undefined => {
  if (!spot || at?.line === undefined || message.startsWith('Jinja error:')) return undefined;
  return spot.source.text === page.text
    ? `${message}; line ${at.line}\n\n${excerpt}`
    : `${message}\n${path.resolve(at.file)}(${at.line}):\n${excerpt}`;
};

const fileOf = ({ source }: Spot, page: Page): string =>
  source.text === page.text ? page.file : source.file;

const unexpected = (error: unknown): JinjaFault =>
  error instanceof RangeError
    ? new JinjaFault('limit', `the template needs too much: ${error.message}`, { cause: error })
    : new JinjaFault('error', messageOf(error), { cause: error });

/** The import stack, innermost first. */
const calledFrom = (callers: readonly Spot[], spot: Spot | undefined): string => {
  const lines = callers
    .filter(caller => caller !== spot)
    .map(({ source, line }) => `called from ${source.name}:${line}`);
  return [...new Set(lines.reverse())].slice(0, 10).join('\n');
};
