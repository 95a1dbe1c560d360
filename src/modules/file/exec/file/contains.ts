import { fnmatch } from '../../../../data/python/glob.ts';
import { expandUser, isFile } from '../../../_shared/files/file-paths.ts';
import { readFileSync } from '../../../_shared/safe-fs/fs.ts';
import { pythonRegex } from '../../../_shared/text/python-regex.ts';
import { decodeForDiff, splitAtNewlines } from '../../../_shared/text/text-diff.ts';

/**
 * Whether a file has a text.
 *
 * @param path the file
 * @param text the text; surrounding white space is ignored
 *
 * @example tsalt-ssh '*' file.contains /etc/crontab 'mymaintenance.sh'
 */
export const contains = async (path: string, text: string | number): Promise<boolean> => {
  const content = textOf(path);
  return content !== '' && content.includes(String(text).trim());
};

/**
 * Whether a line of a file matches a regular expression (Python's syntax).
 *
 * @param path the file
 * @param regex the regular expression
 * @param lchar characters to strip from the start of each line first
 *
 * @example tsalt-ssh '*' file.contains_regex /etc/crontab '^@daily'
 */
export const contains_regex = async (path: string, regex: string, lchar = ''): Promise<boolean> => {
  const matcher = pythonRegex(regex);
  return splitAtNewlines(textOf(path)).some(line => {
    let at = 0;
    while (at < line.length && lchar.includes(line[at] ?? '')) at++;
    return matcher.test(line.slice(at));
  });
};

/**
 * Whether a line of a file matches a glob.
 *
 * @param path the file
 * @param glob_expr the glob
 *
 * @example tsalt-ssh '*' file.contains_glob /etc/foobar '*cheese*'
 */
export const contains_glob = async (path: string, glob_expr: string): Promise<boolean> =>
  splitAtNewlines(textOf(path)).some(line => fnmatch(line.replace(/\n$/, ''), glob_expr));

const textOf = (path: string): string => {
  const full = expandUser(path);
  return isFile(full) ? decodeForDiff(readFileSync(full)) : '';
};
