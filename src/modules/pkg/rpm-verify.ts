import { getOwn } from '../../protocol/plain.ts';
import { toList } from '../_shared/states/values.ts';
import { CommandExecutionError, type Plain } from '../api.ts';
import { rpm } from './rpm-run.ts';

type Verified = {
  [file: string]: { mismatch?: string[]; missing?: true; type?: string };
};

const fileTypes: Readonly<Record<string, string>> = {
  c: 'config',
  d: 'doc',
  g: 'ghost',
  l: 'license',
  r: 'readme',
};

/** The meaning of the nine columns of `rpm -V`, with the names in `verify` and `modified`. */
const places = [
  ['size', 'size'],
  ['mode', 'mode'],
  ['md5sum', 'checksum'],
  ['device major/minor number', 'device'],
  ['readlink path', 'symlink'],
  ['user', 'owner'],
  ['group', 'group'],
  ['mtime', 'time'],
  ['capabilities', 'capabilities'],
] as const;

type Line = { file: string; type: string | undefined; places: number[] | undefined };

/** Reads lines such as `S.5....T.  c /etc/x` and `missing   c /etc/x`; other lines are ignored. */
const readLines = (text: string): Line[] =>
  text.split('\n').flatMap((line): Line[] => {
    const match = /^(?:(missing)|([SM5DLUGTP.?]{8,9}))\s+(?:([a-z])\s+)?(\/.*)$/.exec(line);
    if (!match) return [];
    const [, missing, marks = '', type, path = ''] = match;
    const differing = [...marks].flatMap((mark, at) => (/[.?]/.test(mark) ? [] : [at]));
    const file = missing ? path.replace(/ \([^()]*\)$/, '') : path;
    return [{ file, type, places: missing ? undefined : differing }];
  });

/**
 * Lists the files that differ from their packages, and in what; of all packages if none is named.
 *
 * @param ignore_types kinds of files to ignore: `config`, `doc`, `ghost`, `license`, `readme`
 * @param verify_options options for `rpm -V` without their dashes, such as `nomtime`
 * @param root a folder with another system
 * @param names names of packages
 * @example tsalt-ssh '*' pkg.verify httpd ignore_types=config,doc verify_options=nodeps,nosize
 */
export const rpmVerify = async (
  {
    ignore_types = [],
    verify_options = [],
    root = null,
  }: {
    ignore_types?: Plain;
    verify_options?: Plain;
    root?: string | null;
    [other: string]: unknown;
  },
  ...names: string[]
): Promise<Verified> => {
  const ignored = toList(ignore_types);
  const options = toList(verify_options).map(option => `--${option}`);
  const which = names.length > 0 ? ['-V', '--', ...names] : ['-Va'];
  const { code, stdout, stderr } = await rpm([...options, ...which], root);
  const lines = readLines(stdout);
  const unknown = /^package .* is not installed$/m.exec(stdout)?.[0];
  if (unknown || (code !== 0 && stdout.trim() === ''))
    throw new CommandExecutionError(
      `Failed to verify package(s): ${unknown ?? stderr.trim()}`.replace(/: $/, ''),
    );
  return Object.fromEntries(
    lines
      .map(({ file, type, places: at }) => {
        const kind = type === undefined ? undefined : getOwn(fileTypes, type);
        return [
          file,
          {
            ...(at
              ? { mismatch: at.map(one => places[one]?.[0] ?? '') }
              : { missing: true as const }),
            ...(kind === undefined ? {} : { type: kind }),
          },
        ] as const;
      })
      .filter(([, { type }]) => type === undefined || !ignored.includes(type)),
  );
};

/**
 * Lists the files that were changed since the installation, and in what: `size`, `mode`,
 * `checksum`, `device`, `symlink`, `owner`, `group`, `time`, `capabilities`; `config` for a
 * configuration file, `missing` for one that no longer exists. Of all packages if none is named.
 *
 * @param size true: only files whose size differs; false: only others. The other words work alike
 * @param root a folder with another system
 * @param packages names of packages
 * @example tsalt-ssh '*' pkg.modified httpd size=True
 */
export const rpmModified = async (
  { root = null, ...flags }: { root?: string | null; size?: boolean; [flag: string]: unknown },
  ...packages: string[]
): Promise<{ [file: string]: string[] }> => {
  const { code, stdout, stderr } = await rpm(['-Va', ...packages], root);
  if (code > 1) throw new CommandExecutionError(`rpm -Va failed: ${stderr.trim()}`);
  const wanted = Object.entries(flags).filter(([, value]) => typeof value === 'boolean');
  return Object.fromEntries(
    readLines(stdout)
      .map(({ file, type, places: at }): [string, string[]] => [
        file,
        [
          ...(at?.map(one => places[one]?.[1] ?? '') ?? ['missing']),
          ...(type === undefined ? [] : ['config']),
        ],
      ])
      .filter(([, words]) => wanted.every(([flag, value]) => words.includes(flag) === value)),
  );
};
