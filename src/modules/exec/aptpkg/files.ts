import { apt, parseControl } from '../../lib/apt-run.ts';

/**
 * The files of packages.
 *
 * @param packages names of packages
 * @example tsalt-ssh '*' pkg.file_list nginx
 */
export const file_list = async (
  ...packages: string[]
): Promise<{ errors: string[]; files: string[] }> => {
  const { errors, packages: found } = await file_dict(...packages);
  return { errors, files: Object.values(found).flat() };
};

/**
 * The files of packages, by package.
 *
 * @param packages names of packages
 * @example tsalt-ssh '*' pkg.file_dict nginx
 */
export const file_dict = async (
  ...packages: string[]
): Promise<{ errors: string[]; packages: { [name: string]: string[] } }> => {
  const errors: string[] = [];
  const found: { [name: string]: string[] } = {};
  for (const name of packages) {
    const { code, stdout, stderr } = await apt(['-L', name], { program: 'dpkg-query' });
    if (code === 0) found[name] = stdout.split('\n').filter(line => line.startsWith('/'));
    else errors.push(stderr.trim());
  }
  return { errors, packages: found };
};

/**
 * The package that a file belongs to.
 *
 * @param paths paths of files
 * @example tsalt-ssh '*' pkg.owner /usr/bin/apt
 */
export const owner = async (...paths: string[]): Promise<string | { [path: string]: string }> => {
  const owners: { [path: string]: string } = {};
  for (const path of paths) {
    const { stdout } = await apt(['-S', path], { program: 'dpkg-query' });
    owners[path] = stdout.split('\n')[0]?.split(': ')[0] ?? '';
  }
  return paths.length === 1 ? (owners[paths[0] ?? ''] ?? '') : owners;
};

/**
 * What dpkg knows about installed packages.
 *
 * @param names names of packages
 * @example tsalt-ssh '*' pkg.info_installed nginx
 */
export const info_installed = async (
  ...names: string[]
): Promise<{ [name: string]: { [field: string]: string } }> => {
  const infos: { [name: string]: { [field: string]: string } } = {};
  for (const name of names) {
    const { code, stdout } = await apt(['-s', name], { program: 'dpkg-query' });
    if (code === 0) infos[name] = parseControl(stdout)[0] ?? {};
  }
  return infos;
};
