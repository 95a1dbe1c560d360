import { hasPassword } from '../_shared/sources/url-login.ts';
import { toList } from '../_shared/states/values.ts';
import { plainStr } from '../_shared/text/python-text.ts';
import { type Plain, SaltInvocationError } from '../api.ts';

/** Options of pip whose value may be an address, by the variable that does the same. */
const addressOptions: Readonly<Record<string, string>> = {
  '-i': 'index_url',
  '--index-url': 'index_url',
  '--pypi-url': 'index_url',
  '--extra-index-url': 'extra_index_url',
  '-f': 'find_links',
  '--find-links': 'find_links',
  '--proxy': 'proxy',
  '-r': 'requirement',
  '--requirement': 'requirement',
  '-c': 'constraint',
  '--constraint': 'constraint',
};

export type ExtraArgs = {
  readonly words: string[];
  /** Addresses with a password, by the option that they were given to. */
  readonly addresses: Readonly<Record<string, readonly string[]>>;
};

/**
 * Further words for pip: texts, and options with a value as `- --option: value`. Addresses with a
 * password stand apart: everybody on the host sees the words of a process.
 *
 * @throws SaltInvocationError for such an address that no variable can have
 */
export const extraArgs = (given: Plain | undefined): ExtraArgs => {
  const words: string[] = [];
  const addresses: Record<string, string[]> = {};
  const rest = wordsOf(given);
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const [option, joined] = splitWord(word);
    const value = joined ?? (Object.hasOwn(addressOptions, option) ? rest.shift() : undefined);
    if (!hasPassword(value ?? word)) {
      words.push(word, ...(joined === undefined && value !== undefined ? [value] : []));
      continue;
    }
    const name = Object.hasOwn(addressOptions, option) ? addressOptions[option] : undefined;
    if (name === undefined || value === undefined)
      throw new SaltInvocationError(
        'extra_args has an address with a password, which everybody on the host would see: give it as name, in editable, index_url, extra_index_url, find_links or proxy.',
      );
    addresses[name] = [...(addresses[name] ?? []), value];
  }
  return { words, addresses };
};

const wordsOf = (given: Plain | undefined): string[] =>
  (Array.isArray(given) ? given : toList(given)).flatMap(one =>
    typeof one === 'object' && one !== null
      ? Object.entries(one).flatMap(([option, value]) => {
          if (typeof value === 'object' && value !== null)
            throw new SaltInvocationError(`Too many levels in: ${option}`);
          return [option, plainStr(value)];
        })
      : [plainStr(one)],
  );

/** `--option=value`, and `-ivalue`. */
const splitWord = (word: string): [option: string, value: string | undefined] => {
  const [, option = word, value] =
    /^(--[^=]+)=(.*)$/s.exec(word) ?? /^(-[^-])(.+)$/s.exec(word) ?? [];
  return [option, value];
};
