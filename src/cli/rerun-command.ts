import { shellQuote } from '../data/formats/shell-quote.ts';
import type { Given } from '../request/given.ts';

/** Options that choose hosts: a list of ids replaces them. */
export const targeting: ReadonlySet<string> = new Set([
  'pcre',
  'list',
  'nodegroup',
  'grain',
  'grain-pcre',
  'pillar',
  'pillar-pcre',
  'ipcidr',
  'compound',
  'delimiter',
]);

/** Arguments whose value may be a secret. */
const secretName = /^[\w-]*(?:passw|passphrase|secret|token|pillar|api_?key|credential)[\w-]*=/i;

type RerunCommands = {
  /** The command line of this run. */
  readonly whole: string;
  /** Builds the command line for some hosts. */
  readonly only: (ids: readonly string[]) => string;
};

/** Whether a call targets one host by its address, or this machine. */
export const isAdHoc = ({ options, words: [target = ''] }: Given): boolean =>
  options.local === true ||
  (target.includes('@') && !Object.keys(options).some(name => targeting.has(name)));

/**
 * Formats command lines that repeat a run, quoted for a shell. Leaves out values that may be
 * secrets.
 */
export const rerunCommands = ({ options, words, saltfile }: Given): RerunCommands => {
  const [target, ...rest] = options.local === true ? [undefined, ...words] : words;
  const given = Object.entries(options).filter(([name]) => saltfile?.names.has(name) !== true);
  const written = (names: (name: string) => boolean): string[] =>
    given.flatMap(([name, value]) => (names(name) ? optionWords(name, value) : []));
  const call = rest.map(word => withoutSecret(word ?? ''));
  const line = (parts: readonly string[]): string =>
    ['tsalt-ssh', ...parts].map(shellQuote).join(' ');
  const whole = line([...written(() => true), ...(target === undefined ? [] : [target]), ...call]);
  return {
    whole,
    only: ids =>
      isAdHoc({ options, words })
        ? whole
        : line([...written(name => !targeting.has(name)), '-L', ids.join(','), ...call]),
  };
};

const optionWords = (name: string, value: unknown): string[] =>
  value === true
    ? [`--${name}`]
    : [value].flat().flatMap(one => (typeof one === 'string' ? [`--${name}=${one}`] : []));

/** Whether an argument of a command line may have a secret as its value. */
export const mayBeSecret = (word: string): boolean => secretName.test(word);

const withoutSecret = (word: string): string => {
  const [name] = secretName.exec(word) ?? [];
  return name === undefined ? word : `${name}***`;
};
