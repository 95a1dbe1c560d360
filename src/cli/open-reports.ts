import type { PageAbout } from '../output/html/about.ts';
import type { OutputOptions } from '../output/options.ts';
import { createOutput } from '../output/output.ts';
import type { Output } from '../output/request.ts';
import type { TsaltError } from '../protocol/error.ts';
import type { Given } from '../request/given.ts';
import { fileWriter, firstError, reportError } from './file-writer.ts';
import type { Report } from './report-option.ts';
import { rerunCommands } from './rerun-command.ts';

/** The output of a run, and the errors of the parts that could not be written. */
export type OpenedOutput = Output & { readonly errors: () => Promise<readonly TsaltError[]> };

/** What reports are made of beside the events of a run. */
type ReportContext = {
  readonly options: OutputOptions;
  readonly given: Given;
  /** Returns the parts of a page beside the results. */
  readonly about?: () => PageAbout | undefined;
};

/**
 * Adds reports to the output of a run. Each has its own errors: a report that cannot be written
 * affects neither the hosts nor the other reports.
 */
export const withReports = async (
  output: OpenedOutput,
  reports: readonly Report[],
  context: ReportContext,
): Promise<OpenedOutput> => {
  const opened: Opened[] = [];
  for (const report of reports) opened.push(await open(report, context));
  return {
    emit: event => {
      output.emit(event);
      for (const report of opened) report.emit(event);
    },
    pause: () => output.pause(),
    finish: async () => {
      try {
        await output.finish();
      } finally {
        for (const report of opened) await report.finish();
      }
    },
    fail: async error => {
      await output.fail(error);
      for (const report of opened) await report.fail(error);
    },
    errors: async () => {
      const own = await Promise.all(opened.map(report => report.error()));
      return [...(await output.errors()), ...own.filter(error => error !== undefined)];
    },
  };
};

type Opened = Pick<Output, 'emit' | 'finish' | 'fail'> & {
  readonly error: () => Promise<TsaltError | undefined>;
};

const open = async (
  { format, file }: Report,
  { options, given, about }: ReportContext,
): Promise<Opened> => {
  let failure: TsaltError | undefined;
  const kept = (error: unknown): void => {
    failure ??= reportError(file, error);
  };
  try {
    const writer = firstError(fileWriter(file, false, 'report'));
    const output = await createOutput({
      options: { ...options, out: format, color: false, static: true },
      write: writer.write,
      // The terminal already shows the messages.
      complain: () => undefined,
      logLevel: 'quiet',
      timeline: false,
      commands: rerunCommands(given),
      ...(about ? { about } : {}),
    });
    return {
      emit: event => {
        if (failure !== undefined) return;
        try {
          output.emit(event);
        } catch (error) {
          kept(error);
        }
      },
      finish: () => output.finish().catch(kept),
      fail: error => output.fail(error).catch(kept),
      error: async () => failure ?? writer.error(),
    };
  } catch (error) {
    kept(error);
  }
  return {
    emit: () => undefined,
    finish: () => Promise.resolve(),
    fail: () => Promise.resolve(),
    error: () => Promise.resolve(failure),
  };
};
