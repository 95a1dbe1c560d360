import { closestMatch } from '../data/closest-match.ts';
import { TsaltError } from '../protocol/error.ts';

/** Formats that `--report` takes. */
const reportFormats = ['html', 'junit', 'json', 'ndjson', 'markdown'] as const;

/** One report of `--report`. */
export type Report = { readonly format: (typeof reportFormats)[number]; readonly file: string };

/**
 * Reads the value of `--report`: `FORMAT=FILE`, separated by commas. A file name may contain a
 * comma unless `WORD=` follows it.
 *
 * @throws TsaltError `usage-report`
 */
export const reportsOf = (text: string): Report[] => {
  const reports = text.split(/,(?=[\w-]+=)/).map(reportOf);
  const files = new Set<string>();
  for (const { file } of reports) {
    if (files.has(file)) throw wrong(`Two reports have the same file, '${file}'.`);
    files.add(file);
  }
  return reports;
};

const reportOf = (text: string): Report => {
  const [, name = '', file = ''] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
  const format = reportFormats.find(known => known === name);
  if (format !== undefined && file !== '') return { format, file };
  if (format !== undefined || name === '') throw wrong(`'${text}' is not of the form FORMAT=FILE.`);
  const meant = closestMatch(name, reportFormats);
  throw wrong(
    `There is no report format '${name}'.`,
    meant === undefined ? undefined : `Did you mean '${meant}'?`,
  );
};

const wrong = (message: string, hint = formatsHint): TsaltError =>
  new TsaltError('usage-report', message, { hint });

const formatsHint = `The formats are ${reportFormats.join(', ')}: --report html=run.html,junit=run.xml`;
