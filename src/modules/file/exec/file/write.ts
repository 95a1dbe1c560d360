import { messageOf } from '../../../../protocol/error.ts';
import { writeAtomic } from '../../../_shared/files/atomic-write.ts';
import { exists, expandUser } from '../../../_shared/files/file-paths.ts';
import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  statSync,
  truncateSync,
  utimesSync,
} from '../../../_shared/safe-fs/fs.ts';
import { followLinks } from '../../../_shared/safe-fs/open-parent.ts';
import { textList } from '../../../_shared/text/python-text.ts';
import { decodeForDiff } from '../../../_shared/text/text-diff.ts';
import { CommandExecutionError, type Plain, SaltInvocationError } from '../../../api.ts';
import { readText, writeText } from '../../edit-file.ts';

/** Lines as a keyword argument, for lines with an equals sign on the command line. */
type GivenLines = {
  /** one line or a list, in place of those that follow the path */
  args?: Plain;
};

/**
 * Adds lines to the end of a file. A last line without a newline gets one first.
 *
 * @param path the file
 * @param more the lines
 *
 * @example tsalt-ssh '*' file.append /etc/motd 'With all thine offerings'
 */
export const append = async (
  path: string,
  { args = null }: GivenLines = {},
  ...more: Plain[]
): Promise<string> => {
  const lines = linesOf(args, more);
  const full = followLinks(expandUser(path));
  const { text, encoding } = readText(full);
  const start = text === '' || text.endsWith('\n') ? text : `${text}\n`;
  writeText(full, start + ended(lines), { encoding });
  return `Wrote ${lines.length} lines to "${path}"`;
};

/**
 * Adds lines to the start of a file.
 *
 * @param path the file
 * @param more the lines
 *
 * @example tsalt-ssh '*' file.prepend /etc/motd 'Welcome'
 */
export const prepend = async (
  path: string,
  { args = null }: GivenLines = {},
  ...more: Plain[]
): Promise<string> => {
  const lines = linesOf(args, more);
  const full = followLinks(expandUser(path));
  const preface = ended(lines);
  if (exists(full)) {
    const { text, encoding } = readText(full);
    writeText(full, preface + text, { encoding });
  } else writeAtomic(full, preface);
  return `Prepended ${lines.length} lines to "${path}"`;
};

/**
 * Writes lines to a file, in place of what it held.
 *
 * @param path the file
 * @param more the lines
 *
 * @example tsalt-ssh '*' file.write /etc/motd 'Welcome'
 */
export const write = async (
  path: string,
  { args = null }: GivenLines = {},
  ...more: Plain[]
): Promise<string> => {
  const lines = linesOf(args, more);
  writeAtomic(followLinks(expandUser(path)), ended(lines));
  return `Wrote ${lines.length} lines to "${path}"`;
};

/** Each line with its end. */
const ended = (lines: readonly string[]): string => lines.map(line => `${line}\n`).join('');

const linesOf = (args: Plain, more: readonly Plain[]): string[] =>
  textList(args === null ? [...more] : args);

/**
 * Returns the content of a file.
 *
 * @param path the file
 * @param binary return the bytes in base64
 *
 * @example tsalt-ssh '*' file.read /etc/hostname
 */
export const read = async (
  path: string,
  { binary = false }: { binary?: boolean } = {},
): Promise<string> => {
  const bytes = bytesOf(expandUser(path));
  return binary ? bytes.toString('base64') : decodeForDiff(bytes);
};

const bytesOf = (path: string): Buffer => {
  try {
    return readFileSync(path);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    const why = reasons[code] ?? messageOf(error);
    throw new CommandExecutionError(`The file ${path} cannot be read: ${why}`);
  }
};

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is none on this host',
  ENOTDIR: 'a part of its path is not a folder',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
};

/**
 * Makes an empty file, or sets the times of one that is there.
 *
 * @param name the file
 * @param atime access time, in seconds since 1970; by default, now
 * @param mtime modification time, in seconds since 1970; by default, now
 *
 * @example tsalt-ssh '*' file.touch /var/log/emptyfile
 */
export const touch = async (
  name: string,
  atime: string | number | null = null,
  mtime: string | number | null = null,
): Promise<boolean> => {
  const full = expandUser(name);
  const seconds = (value: string | number | null): number =>
    value === null || value === '' ? Date.now() / 1000 : Number(value);
  if (Number.isNaN(seconds(atime)) || Number.isNaN(seconds(mtime)))
    throw new SaltInvocationError('atime and mtime must be integers');
  try {
    if (!existsSync(full)) closeSync(openSync(full, 'a'));
    utimesSync(full, seconds(atime), seconds(mtime));
  } catch (error) {
    throw new CommandExecutionError(messageOf(error));
  }
  return existsSync(full);
};

/**
 * Truncates a file.
 *
 * @param path the file
 * @param length bytes to keep
 *
 * @example tsalt-ssh '*' file.truncate /var/log/app.log 512
 */
export const truncate = async (path: string, length: number | string): Promise<null> => {
  const full = expandUser(path);
  statSync(full);
  truncateSync(full, Number(length));
  return null;
};
