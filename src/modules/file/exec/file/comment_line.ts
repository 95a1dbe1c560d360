import { expandUser, isFile } from '../../../_shared/files/file-paths.ts';
import { followLinks } from '../../../_shared/safe-fs/open-parent.ts';
import { pythonRegex } from '../../../_shared/text/python-regex.ts';
import { linesDiff, splitAtNewlines } from '../../../_shared/text/text-diff.ts';
import { SaltInvocationError } from '../../../api.ts';
import { copyWithAttributes, readOnlyText, writeText } from '../../edit-file.ts';

/**
 * Comments lines out, or removes their comment. Returns the diff of those lines, or false if none
 * matches.
 *
 * @param path the file
 * @param regex regular expression (Python's syntax) for the start of a line
 * @param char the comment character
 * @param cmnt false: uncomment the lines
 * @param backup suffix of the backup copy's name; false for no backup
 *
 * @example tsalt-ssh '*' file.comment_line /etc/modules '^pcspkr'
 */
export const comment_line = async (
  path: string,
  regex: string,
  char = '#',
  cmnt = true,
  backup: string | boolean | null = '.bak',
): Promise<string | false> => {
  const full = followLinks(expandUser(path));
  if (!isFile(full)) throw new SaltInvocationError(`File not found: ${full}`);
  const { text, encoding } = readOnlyText(full);
  const bare = regex.replace(/^\^+/, '').replace(/\$+$/, '');
  const end = regex.endsWith('$') ? '$' : '';
  const pattern = cmnt ? `^(${bare})${end}` : `^${char}\\s*(${bare})${end}`;
  const matcher = pythonRegex(pattern);
  const lines = splitAtNewlines(text);
  const changed = lines.map(line => {
    if (!matcher.test(line)) return line;
    return cmnt ? char + line : withoutLead(line, char);
  });
  const touched = lines.filter(line => matcher.test(line));
  if (touched.length === 0) return false;
  if (backup) copyWithAttributes(full, full + (backup === true ? '.bak' : backup));
  writeText(full, changed.join(''), { encoding });
  return linesDiff(
    touched,
    changed.filter((_, index) => matcher.test(lines[index] ?? '')),
  );
};

/** Like `str.lstrip(char)`: removes any of these characters from the start. */
const withoutLead = (line: string, characters: string): string => {
  let at = 0;
  while (at < line.length && characters.includes(line[at] ?? '\n')) at++;
  return line.slice(at);
};

/**
 * Comments lines out.
 *
 * @param path the file
 * @param regex regular expression (Python's syntax) for the start of a line
 * @param char the comment character
 * @param backup suffix of the backup copy's name; false for no backup
 *
 * @example tsalt-ssh '*' file.comment /etc/modules pcspkr
 */
export const comment = async (
  path: string,
  regex: string,
  char = '#',
  backup: string | boolean | null = '.bak',
): Promise<string | false> => comment_line(path, regex, char, true, backup);

/**
 * Removes the comment characters from lines.
 *
 * @param path the file
 * @param regex regular expression (Python's syntax) for a line behind its comment sign
 * @param char the comment character
 * @param backup suffix of the backup copy's name; false for no backup
 *
 * @example tsalt-ssh '*' file.uncomment /etc/hosts.deny 'ALL: PARANOID'
 */
export const uncomment = async (
  path: string,
  regex: string,
  char = '#',
  backup: string | boolean | null = '.bak',
): Promise<string | false> => comment_line(path, regex, char, false, backup);
