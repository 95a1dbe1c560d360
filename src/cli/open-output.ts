import type { Config } from '../config/config.ts';
import { closestMatch } from '../data/closest-match.ts';
import { outputNames } from '../output/format.ts';
import type { PageAbout } from '../output/html/about.ts';
import { errorText } from '../output/message.ts';
import type { OutputOptions } from '../output/options.ts';
import { createOutput } from '../output/output.ts';
import type { OutputRequest } from '../output/request.ts';
import { TsaltError } from '../protocol/error.ts';
import type { Given } from '../request/given.ts';
import { logLevelOf } from '../request/log-level.ts';
import { fileWriter, firstError } from './file-writer.ts';
import type { OpenedOutput } from './open-reports.ts';
import { print, standardOutputError } from './standard-output.ts';
import { userFormats } from './user-formats.ts';

/**
 * Opens the output that the options ask for.
 *
 * @throws TsaltError `usage-out`, `usage-value`, `usage-report`, `out-file`
 */
export const openOutput = async ({
  given,
  config,
  jid = () => undefined,
  isQuiet = false,
  about,
}: {
  readonly given: Given;
  readonly config: Config;
  /** The run's job id, once it is known. */
  readonly jid?: () => string | undefined;
  /** Shows progress and messages, without results. */
  readonly isQuiet?: boolean;
  /** Returns the parts of report pages beside the results. */
  readonly about?: () => PageAbout | undefined;
}): Promise<OpenedOutput> => {
  const { options: typed } = given;
  const file = typed['out-file'];
  const shown = outputOptions(given, config);
  const options = isQuiet ? { ...shown, out: 'quiet' } : shown;
  const reports =
    typeof typed.report === 'string'
      ? (await import('./report-option.ts')).reportsOf(typed.report)
      : [];
  const writer =
    typeof file === 'string'
      ? firstError(fileWriter(file, typed['out-file-append'] === true, 'output'))
      : { write: print, error: standardOutputError };
  const terminal = process.stdout.isTTY === true && typeof file !== 'string';
  const progress = terminal && process.env.TERM !== 'dumb' && shown.out !== 'quiet';
  const logFile = ['ssh_log_file', 'log_file'].reduce<string | undefined>(
    (named, key) => named ?? textOf(config.options.get(key)),
    textOf(typed['log-file']),
  );
  const level = (option: 'log-level' | 'log-file-level', key: string): OutputRequest['logLevel'] =>
    logLevelOf(`--${option}`, textOf(typed[option])) ??
    logLevelOf(key, textOf(config.options.get(key))) ??
    'warning';
  const userFormat = userFormats(config);
  if (options.out !== undefined && !outputNames.includes(options.out))
    if ((await userFormat(options.out)) === undefined) throw noOutputter(options.out);
  const output = await createOutput({
    options,
    userFormat,
    ...(logFile === undefined
      ? {}
      : {
          logFile: {
            level: level('log-file-level', 'log_level_logfile'),
            write: once(fileWriter(logFile, true, 'log')),
          },
        }),
    write: writer.write,
    complain: text => process.stderr.write(text),
    logLevel: level('log-level', 'log_level'),
    ...(typed['log-format'] === 'json' ? { jsonLog: { jid } } : {}),
    timeline:
      typed.verbose === true ||
      ['debug', 'trace', 'all'].includes(textOf(typed['log-level']) ?? ''),
    stream: typed.stream === true || typed.verbose === true,
    fold: typed['no-fold'] !== true && (terminal || typed.fold === true),
    ...(progress && typed.verbose !== true && typed.stream !== true
      ? {
          live: async () => (await import('../output/live.ts')).startLive(process.stdout),
        }
      : {}),
  });
  const opened: OpenedOutput = {
    emit: output.emit,
    pause: output.pause,
    finish: () => output.finish(),
    fail: error => output.fail(error),
    errors: async () => [await writer.error()].filter(error => error !== undefined),
  };
  if (reports.length === 0) return opened;
  const { withReports } = await import('./open-reports.ts');
  return withReports(opened, reports, { options, given, ...(about ? { about } : {}) });
};

/** A log that cannot be written is reported once and does not stop the run. */
const once = (write: (text: string) => void): ((text: string) => void) => {
  let isBroken = false;
  return text => {
    if (isBroken) return;
    try {
      write(text);
    } catch (error) {
      isBroken = true;
      process.stderr.write(`${errorText(error)}\n`);
    }
  };
};

/** Merges the output options: those of the command line override the configuration. */
export const outputOptions = ({ options }: Given, config: Config): OutputOptions => {
  const out = textOf(options.out) ?? textOf(config.options.get('output'));
  const indent = indentOf(textOf(options['out-indent']));
  const color = colorOf(options, config);
  return {
    ...(out === undefined ? {} : { out }),
    ...(indent === undefined ? {} : { indent }),
    ...(options['expect-no-changes'] === true ? { expectsNoChanges: true } : {}),
    color,
    static: options.static === true,
    state_output: stateOutputOf(textOf(options['state-output']) ?? config.state_output),
    state_verbose:
      flagOf('state-verbose', textOf(options['state-verbose'])) ?? config.state_verbose,
    state_tabular: config.state_tabular,
    state_output_diff: config.state_output_diff,
    state_output_profile: config.state_output_profile,
    state_output_pct: config.state_output_pct,
    state_compress_ids: config.state_compress_ids,
    state_output_exclude: config.state_output_exclude,
    state_output_terse: config.state_output_terse,
  };
};

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

const colorOf = (options: Given['options'], config: Config): boolean => {
  if (options['force-color'] === true) return true;
  if (options['no-color'] === true || typeof options['out-file'] === 'string') return false;
  if (config.options.get('color') === false) return false;
  return process.stdout.isTTY === true && (process.env.NO_COLOR ?? '') === '';
};

const noOutputter = (name: string): TsaltError => {
  const meant = closestMatch(name, outputNames);
  return new TsaltError('usage-out', `There is no outputter '${name}'.`, {
    hint:
      meant === undefined
        ? `The outputters are ${outputNames.join(', ')}.`
        : `Did you mean '${meant}'?`,
  });
};

const indentOf = (text: string | undefined): number | 'pretty' | undefined => {
  if (text === undefined || text === 'pretty') return text;
  if (/^-?\d{1,2}$/.test(text)) return Number(text);
  throw new TsaltError(
    'usage-value',
    `The value of --out-indent must be a number or 'pretty', not '${text}'.`,
  );
};

const modes = ['full', 'terse', 'mixed', 'changes', 'filter'].flatMap(mode => [mode, `${mode}_id`]);

const stateOutputOf = (mode: string): string => {
  if (modes.includes(mode.toLowerCase())) return mode.toLowerCase();
  const meant = closestMatch(mode, modes);
  throw new TsaltError('usage-value', `There is no state output mode '${mode}'.`, {
    hint: meant === undefined ? `The modes are ${modes.join(', ')}.` : `Did you mean '${meant}'?`,
  });
};

const flagOf = (name: string, text: string | undefined): boolean | undefined => {
  if (text === undefined) return undefined;
  if (/^(true|yes|on|1)$/i.test(text)) return true;
  if (/^(false|no|off|0)$/i.test(text)) return false;
  throw new TsaltError(
    'usage-value',
    `The value of --${name} must be True or False, not '${text}'.`,
  );
};
