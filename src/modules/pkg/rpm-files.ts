import { getOwn } from '../../protocol/plain.ts';
import { rpm } from './rpm-run.ts';

type RootOptions = {
  /** a folder with another system */
  root?: string | null;
  [other: string]: unknown;
};

const linesOf = (text: string): string[] => text.split('\n').filter(line => line !== '');

const isUnknown = (line: string): boolean => line.endsWith(' is not installed');

/**
 * Lists the files of packages; of all packages if none is named.
 *
 * @param packages names of packages
 * @example tsalt-ssh '*' pkg.file_list nginx
 */
export const rpmFileList = async (
  { root = null }: RootOptions,
  ...packages: string[]
): Promise<{ errors: string[]; files: string[] }> => {
  const which = packages.length > 0 ? ['-ql', '--', ...packages] : ['-qla'];
  const lines = linesOf((await rpm(which, root)).stdout);
  return { errors: lines.filter(isUnknown), files: lines.filter(line => line.startsWith('/')) };
};

/**
 * Lists the files of packages, by package; of all packages if none is named.
 *
 * @param packages names of packages
 * @example tsalt-ssh '*' pkg.file_dict nginx
 */
export const rpmFileDict = async (
  { root = null }: RootOptions,
  ...packages: string[]
): Promise<{ errors: string[]; packages: { [name: string]: string[] } }> => {
  const format = '[%{=NAME}\t%{FILENAMES}\n]';
  const all = packages.length > 0 ? ['-q'] : ['-qa'];
  const names = packages.length > 0 ? ['--', ...packages] : [];
  const listed = linesOf(
    (await rpm([...all, '--queryformat', '%{NAME}\n', ...names], root)).stdout,
  );
  const errors = listed.filter(isUnknown);
  const found: { [name: string]: string[] } = Object.fromEntries(
    listed.filter(line => !isUnknown(line)).map(name => [name, []]),
  );
  for (const line of linesOf(
    (await rpm([...all, '--queryformat', format, ...names], root)).stdout,
  )) {
    const [name = '', file] = line.split('\t');
    if (file !== undefined) getOwn(found, name)?.push(file);
  }
  return { errors, packages: found };
};

/**
 * Returns the package that a file belongs to; an empty string if there is none.
 *
 * @param paths paths of files
 * @example tsalt-ssh '*' pkg.owner /usr/bin/rpm
 */
export const rpmOwner = async (
  { root = null }: RootOptions,
  ...paths: string[]
): Promise<string | { [path: string]: string }> => {
  const owners: { [path: string]: string } = {};
  for (const path of paths) {
    const { stdout } = await rpm(['-qf', '--queryformat', '%{NAME}\n', '--', path], root);
    const names = linesOf(stdout).filter(line => !/ not owned /.test(line));
    // A folder may belong to several packages.
    owners[path] = [...new Set(names)].join(',');
  }
  return paths.length <= 1 ? (owners[paths[0] ?? ''] ?? '') : owners;
};
