import { runCommand } from '../../../_shared/commands/run-command.ts';
import { expandUser, isFile } from '../../../_shared/files/file-paths.ts';
import { closeSync, openSync, readSync, writeSync } from '../../../_shared/safe-fs/fs.ts';
import { salt } from '../../../_shared/states/call.ts';
import { splitCommandArgs } from '../../../_shared/text/command-args.ts';
import { CommandExecutionError, SaltInvocationError } from '../../../api.ts';

/**
 * Escapes the slashes that separate the parts of sed's command; with `all` also characters with a
 * special meaning.
 */
const escaped = (text: string, all: boolean): string =>
  all ? text.replace(/[/'"?+|$^(){}&.*\\[\]]/g, '\\$&') : text.replace(/['/]/g, '\\$&');

/**
 * Edits a file with `sed`. `file.replace` can do more and reports the changes.
 *
 * @param path the file
 * @param before the pattern
 * @param after the replacement
 * @param limit only in lines that match this
 * @param backup the end of the backup's name; '' for none
 * @param options of sed
 * @param flags flags of the substitution
 * @param escape_all treat the strings literally
 * @param negate_match only in lines that do not match `limit`
 * @example tsalt-ssh '*' file.sed /etc/httpd/httpd.conf 'LogLevel warn' 'LogLevel info'
 */
export const sed = async (
  path: string,
  before: string | number,
  after: string | number,
  {
    limit = '',
    backup = '.bak',
    options = '-r -e',
    flags = 'g',
    escape_all = false,
    negate_match = false,
  }: {
    limit?: string;
    backup?: string;
    options?: string;
    flags?: string;
    escape_all?: boolean;
    negate_match?: boolean;
  } = {},
): Promise<{ pid: number; retcode: number; stdout: string; stderr: string } | false> => {
  const full = expandUser(path);
  if (!isFile(full)) return false;
  const where = limit === '' ? '' : `/${escaped(limit, escape_all)}/${negate_match ? '!' : ' '}`;
  const script = `${where}s/${escaped(String(before), escape_all)}/${escaped(String(after), escape_all)}/${flags}`;
  const { code, stdout, stderr, pid } = await runCommand(
    ['sed', backup === '' ? '-i' : `-i${backup}`, ...splitCommandArgs(options), script, full],
    { plainLocale: true },
  );
  return { pid, retcode: code, stdout, stderr };
};

/**
 * Returns true if a line of a file matches a pattern of `sed`. See `file.search`.
 *
 * @param path the file
 * @param text the pattern
 * @param limit only in lines that match this
 * @param flags flags of the substitution
 */
export const sed_contains = async (
  path: string,
  text: string | number,
  { limit = '', flags = 'g' }: { limit?: string; flags?: string } = {},
): Promise<boolean> => {
  const full = expandUser(path);
  if (!isFile(full)) return false;
  const where = limit === '' ? '' : `/${escaped(limit, false)}/ `;
  const script = `${where}s/${escaped(String(text), false)}/$/p${flags}`;
  const { code, stdout, stderr } = await runCommand(['sed', '-n', '-r', '-e', script, full], {
    plainLocale: true,
  });
  if (code !== 0) throw new CommandExecutionError(stderr.trim());
  return stdout !== '';
};

const flagNames: Readonly<Record<string, string>> = {
  I: 'IGNORECASE',
  M: 'MULTILINE',
  S: 'DOTALL',
};

/**
 * Edits a file with a Python regular expression. This is the old name of `file.replace`.
 *
 * @param path the file
 * @param before the pattern
 * @param after the replacement
 * @param limit refused: the pattern itself must select the lines
 * @param backup suffix of the backup copy's name
 * @param flags `g` (all of them), `I`, `M`, `S`
 * @param escape_all refused, like `limit`
 * @param multi refused, like `limit`
 * @example tsalt-ssh '*' file.psed /etc/httpd/httpd.conf 'LogLevel warn' 'LogLevel info'
 */
export const psed = async (
  path: string,
  before: string | number,
  after: string | number,
  {
    limit = '',
    backup = '.bak',
    flags = 'gMS',
    escape_all = false,
    multi = false,
  }: {
    limit?: string;
    backup?: string;
    flags?: string;
    escape_all?: boolean;
    multi?: boolean;
  } = {},
): Promise<string> => {
  if (limit !== '' || escape_all || multi)
    throw new SaltInvocationError(
      'The arguments "limit", "escape_all" and "multi" of file.psed are not supported: write the pattern so that it fits only there, or use file.sed.',
    );
  const unknown = [...flags].find(flag => flag !== 'g' && !Object.hasOwn(flagNames, flag));
  if (unknown !== undefined)
    throw new SaltInvocationError(`psed: the flag '${unknown}' is not supported`);
  return await salt('file.replace')(path, String(before), String(after), {
    backup,
    count: flags.includes('g') ? 0 : 1,
    flags: [...flags].flatMap(flag => flagNames[flag] ?? []),
  });
};

/**
 * Reads from a place in a file.
 *
 * @param path the file
 * @param size maximum number of bytes
 * @param offset from this byte on
 * @example tsalt-ssh '*' file.seek_read /etc/hostname 4 0
 */
export const seek_read = async (path: string, size: number, offset: number): Promise<string> => {
  const file = openSync(expandUser(path), 'r');
  try {
    const bytes = Buffer.alloc(size);
    return bytes.subarray(0, readSync(file, bytes, 0, size, offset)).toString('utf8');
  } finally {
    closeSync(file);
  }
};

/**
 * Writes to a position in an existing file and returns the number of bytes written.
 *
 * @param path the file
 * @param data the text
 * @param offset from this byte on
 * @example tsalt-ssh '*' file.seek_write /srv/image data 4096
 */
export const seek_write = async (path: string, data: string, offset: number): Promise<number> => {
  const file = openSync(expandUser(path), 'r+');
  try {
    return writeSync(file, Buffer.from(data, 'utf8'), 0, Buffer.byteLength(data), offset);
  } finally {
    closeSync(file);
  }
};
