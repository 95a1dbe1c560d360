import yargs, { type Options } from 'yargs';
import { closestMatch } from '../data/closest-match.ts';
import { TsaltError } from '../protocol/error.ts';
import type { Given } from '../request/given.ts';
import { options } from '../request/options.ts';
import { foreignOptions, insteadOf } from './salt-options.ts';

/** The form of a call on hosts. */
export const callUsage = 'tsalt-ssh [options] <target> <function> [arguments] [key=value …]';

/** The command-line parser, made with yargs. */
export const commandLineParser = (argv: readonly string[]) =>
  yargs([...argv])
    .scriptName('tsalt-ssh')
    .locale('en')
    .exitProcess(false)
    .help(false)
    .version(false)
    .parserConfiguration({
      'boolean-negation': false,
      'camel-case-expansion': false,
      'dot-notation': false,
      'duplicate-arguments-array': true,
      'parse-numbers': false,
      'parse-positional-numbers': false,
      'short-option-groups': true,
      'populate--': true,
      'strip-aliased': true,
    })
    .options(options)
    .fail((message, error) => {
      throw usageError(message ?? error?.message ?? 'The command line cannot be read');
    });

/**
 * Reads the command line.
 *
 * @throws TsaltError `usage-…` with one sentence and a hint
 */
export const parseArguments = (argv: readonly string[]): Given => {
  const parsed = commandLineParser(withoutFlagValues(argv)).parseSync() as Record<string, unknown>;
  const { _: words = [], '--': rest = [], $0: _program, ...given } = parsed;
  const names = Object.keys(options);
  for (const name of Object.keys(given)) if (!names.includes(name)) throw unknownOption(name, argv);
  return {
    options: Object.fromEntries(
      Object.entries(given)
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => [name, name === 'ssh-option' ? value : oneOf(name, value)]),
    ),
    words: [...(words as unknown[]), ...(rest as unknown[])].map(String),
  };
};

/**
 * Keeps `-r true` from being read as a value of `-r`: flags take a value only by `--flag=value`.
 */
const withoutFlagValues = (argv: readonly string[]): string[] => {
  const end = argv.indexOf('--');
  return argv.flatMap((word, at) => {
    const isAhead = /^(?:true|false)$/.test(argv[at + 1] ?? '') && (end < 0 || at < end);
    const [, first, letters] = /^-(?:-([a-z][a-z_-]*)|([A-Za-z]+))$/.exec(word) ?? [];
    const name = first ?? letters?.at(-1);
    const flag = isAhead && name !== undefined ? flagNamed(name) : undefined;
    if (flag === undefined) return [word];
    const others = letters?.slice(0, -1) ?? '';
    return [...(others === '' ? [] : [`-${others}`]), `--${flag}=true`];
  });
};

const flagNamed = (typed: string): string | undefined =>
  Object.entries<Options>(options).find(
    ([name, { type, alias }]) =>
      type === 'boolean' && (name === typed || [alias].flat().includes(typed)),
  )?.[0];

/**
 * Returns the value of an option that is given once, or the last of several as in Salt, so that a
 * shell alias can be overridden. Refuses repetition of options of which a user may mean all values.
 *
 * @throws TsaltError `usage-value`
 */
const oneOf = (name: string, value: unknown): unknown => {
  if (!Array.isArray(value)) return value;
  const values = [...new Set(value)];
  const hint = hints[name];
  if (values.length === 1 || hint === undefined) return value.at(-1);
  throw new TsaltError('usage-value', `--${name} is given more than once: ${values.join(', ')}.`, {
    hint,
  });
};

const withCommas = (name: string): string =>
  `Several values are written with commas between: --${name} A,B.`;

const hints: Readonly<Record<string, string>> = {
  out: 'Standard output has one format. --report html=FILE,json=FILE writes others beside it.',
  'no-parse': withCommas('no-parse'),
  'plan-recipient': withCommas('plan-recipient'),
  'remote-port-forwards': withCommas('remote-port-forwards'),
  report: 'Several reports are written with commas between: --report html=FILE,json=FILE.',
  roster: withCommas('roster'),
  'scan-ports': withCommas('scan-ports'),
  'trust-owner': withCommas('trust-owner'),
};

const usageError = (message: string): TsaltError => {
  const choices = /Argument: (\S+), Given: "(.*?)", Choices: (.*)/s.exec(message);
  if (choices) {
    const [, name, value, list] = choices;
    return new TsaltError('usage-value', `The option --${name} has no value '${value}'.`, {
      hint: `It takes ${list?.replaceAll('"', '').trim()}.`,
    });
  }
  const missing = /Not enough arguments following: (\S+)/.exec(message);
  if (missing)
    return new TsaltError('usage-value', `The option ${dashed(missing[1])} needs a value.`);
  return new TsaltError('usage', `${message.replace(/\.$/, '')}.`, { hint: `Usage: ${callUsage}` });
};

const dashed = (name = ''): string => (name.length === 1 ? `-${name}` : `--${name}`);

const unknownOption = (name: string, argv: readonly string[]): TsaltError =>
  new TsaltError('usage-option', `There is no option ${dashed(name)}.`, {
    hint:
      (name.length > 1 ? hintForLong(name) : (withOneDash(name, argv) ?? insteadOf(name))) ??
      'tsalt-ssh --help lists the options.',
  });

const hintForLong = (name: string): string | undefined => {
  const begun = Object.keys(options).filter(option => option.startsWith(name));
  const meant = begun.length === 1 ? begun[0] : closestMatch(name, Object.keys(options));
  const foreign = meant === undefined ? closestMatch(name, foreignOptions) : undefined;
  return (
    insteadOf(name) ??
    insteadOf(foreign ?? '') ??
    (meant === undefined ? undefined : `Did you mean --${meant}?`)
  );
};

/** Recognises `-out=json` and `-test`, which would be read letter by letter. */
const withOneDash = (letter: string, argv: readonly string[]): string | undefined => {
  const words = argv.flatMap(word => /^-([a-z][a-z-]+)(?:=|$)/.exec(word)?.[1] ?? []);
  const word = words.find(one => one.includes(letter));
  if (word === undefined) return undefined;
  return Object.hasOwn(options, word)
    ? `Long options have two dashes: --${word}.`
    : insteadOf(word);
};
