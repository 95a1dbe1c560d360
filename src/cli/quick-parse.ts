import type { Options } from 'yargs';
import type { Given } from '../request/given.ts';
import { type OptionName, options } from '../request/options.ts';

const table: Readonly<Record<OptionName, Options>> = options;

/**
 * Reads a simple command line: arguments, flags, and options with their values. Returns undefined
 * for everything else, errors included: `parseArguments` then uses yargs, whose loading takes a
 * tenth of a whole run. The results equal those of yargs.
 */
export const quickParse = (argv: readonly string[]): Given | undefined => {
  const given: Partial<Record<OptionName, string | boolean>> = {};
  const words: string[] = [];
  for (let at = 0; at < argv.length; at += 1) {
    const word = argv[at] ?? '';
    if (!word.startsWith('-')) {
      words.push(word);
      continue;
    }
    const [, dashed = '', own] = /^(--[a-z][a-z_-]+|-[A-Za-z])(?:=(.*))?$/s.exec(word) ?? [];
    const name = longName(dashed.replace(/^--?/, ''));
    if (name === undefined || Object.hasOwn(given, name)) return undefined;
    const option = table[name];
    const next = argv[at + 1];
    if (option.type === 'boolean') {
      // yargs takes a following `true` or `false` as the flag's value.
      if (own !== undefined || next === 'true' || next === 'false') return undefined;
      given[name] = true;
      continue;
    }
    if (own !== undefined && !dashed.startsWith('--')) return undefined;
    const value = own ?? next;
    if (value === undefined || !isPlainValue(value, option)) return undefined;
    given[name] = value;
    if (own === undefined) at += 1;
  }
  return { options: given, words };
};

/** Reads a command line, by yargs only where it is not a simple one. @throws as `parseArguments` */
export const parseCommandLine = async (argv: readonly string[]): Promise<Given> =>
  quickParse(argv) ?? (await import('./parse.ts')).parseArguments(argv);

/** yargs removes quotes, splits lists and treats dashes and empty values in its own way. */
const isPlainValue = (value: string, { array, choices }: Options): boolean =>
  array !== true && /^[^\s'"-]/.test(value) && (choices === undefined || choices.includes(value));

const longName = (typed: string): OptionName | undefined => {
  if (Object.hasOwn(options, typed)) return typed as OptionName;
  for (const [name, { alias }] of Object.entries(table))
    if ([alias].flat().includes(typed)) return name as OptionName;
  return undefined;
};
