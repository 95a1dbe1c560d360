import { globTest } from '../../data/python/glob.ts';
import { splitCommandArgs } from '../_shared/text/command-args.ts';
import { SaltInvocationError } from '../api.ts';

/** The options of tar or unzip that apply to an archive unpacked without these programs. */
export type ArchiveOptions = {
  /** The number of leading path components to remove. */
  readonly strip: number;
  /** Whether a member is wanted, by its name in the archive. */
  readonly isWanted: (name: string) => boolean;
  /** Returns the named members that no tested member matched. */
  readonly unseen: () => string[];
};

/** Short options that request only what is detected or done by default. */
const needless = { tar: /^-?[zjJvxpfoZa]+$/, zip: /^-[oq]+$/ };
/** Long options without effect here; owners are never taken from the archive. */
const needlessLong =
  /^--(?:gzip|gunzip|bzip2|xz|lzip|zstd|verbose|extract|get|auto-compress|overwrite|unlink-first|preserve-permissions|same-permissions|no-same-owner|numeric-owner|no-(?:acls|xattrs|selinux)|warning=.*)$/;

/**
 * Parses the options of an archive: `--strip-components=N`, `--exclude=PATTERN`, `--wildcards`,
 * names of members of a tar, and options that have no effect here.
 *
 * @throws SaltInvocationError for any other option, naming it
 */
export const archiveOptions = (text: string | null, format: 'tar' | 'zip'): ArchiveOptions => {
  const words = splitCommandArgs(text ?? '');
  const excluded: string[] = [];
  const members: string[] = [];
  let strip = 0;
  let hasWildcards = false;
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    const [name, joined] = splitOption(word);
    const value = (): string => joined ?? words[++at] ?? '';
    if (at === 0 && needless[format].test(word)) continue;
    if (needless[format].test(word) && word.startsWith('-')) continue;
    if (format === 'tar' && needlessLong.test(word)) continue;
    if (format === 'tar' && /^--strip(?:-components)?$/.test(name)) strip = count(name, value());
    else if (format === 'tar' && name === '--exclude') excluded.push(value());
    else if (format === 'tar' && name === '--wildcards') hasWildcards = true;
    else if (format === 'tar' && !word.startsWith('-')) members.push(word);
    else
      throw new SaltInvocationError(
        `The option ${word} of an archive is not supported: unpack it by cmd.run, or leave the option out.`,
      );
  }
  const isExcluded = excluded.map(pattern => below(pattern, true, true));
  const named = members.map(member => ({ member, test: below(member, hasWildcards, false) }));
  const seen = new Set<string>();
  return {
    strip,
    isWanted: given => {
      const path = given.replace(/^(?:\.\/)+|\/+$/g, '');
      const found = named.filter(({ test }) => test(path));
      for (const { member } of found) seen.add(member);
      return (found.length > 0 || named.length === 0) && !isExcluded.some(test => test(path));
    },
    unseen: () => members.filter(member => !seen.has(member)),
  };
};

const splitOption = (word: string): [name: string, value: string | undefined] => {
  const [, name = word, value] = /^(--[a-z-]+)=([\s\S]*)$/.exec(word) ?? [];
  return [name, value];
};

const count = (name: string, text: string): number => {
  if (/^\d{1,4}$/.test(text)) return Number(text);
  throw new SaltInvocationError(`The option ${name} of an archive needs a number, not '${text}'.`);
};

/**
 * Whether a path or one of the folders above it is meant, as tar understands names: exclusions
 * begin after any slash, names of members at the first part.
 */
const below = (
  given: string,
  hasWildcards: boolean,
  isAnywhere: boolean,
): ((path: string) => boolean) => {
  // An exclusion that ends in a slash never matches, because names of members do not end in one.
  const pattern = isAnywhere ? given : given.replace(/^(?:\.\/)+|\/+$/g, '');
  const matches = hasWildcards ? globTest(pattern) : (text: string) => text === pattern;
  return path => {
    const parts = path.split('/');
    const starts = isAnywhere ? parts.map((_, at) => at) : [0];
    return starts.some(start =>
      parts.some((_, end) => end >= start && matches(parts.slice(start, end + 1).join('/'))),
    );
  };
};

/** Returns a file name as an argument: a name that begins with `-` would be an option. */
export const plainName = (name: string): string => (name.startsWith('-') ? `./${name}` : name);

/** @throws SaltInvocationError where names of an archive's files are templates */
export const refuseTemplate = (template: string | null): void => {
  if (template)
    throw new SaltInvocationError(
      'The argument "template" of archive functions is not supported: names are rendered by the SLS that has them.',
    );
};
