import { readOr } from '../../../_shared/files/read-file.ts';
import { statSync } from '../../../_shared/safe-fs/fs.ts';
import { CommandExecutionError } from '../../../api.ts';
import { apt } from '../../apt-run.ts';

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

/** Salt's names of package fields that differ from dpkg's. */
const infoNames: Readonly<Record<string, string>> = {
  Package: 'name',
  Origin: 'vendor',
  Section: 'group',
  Maintainer: 'packager',
  Homepage: 'url',
};

const infoFields = [
  ...Object.keys(infoNames),
  'Architecture',
  'source:Package',
  'Version',
  'Description',
];

/**
 * Returns dpkg's data about installed packages: `name`, `version`, `architecture`, `packager`,
 * `group`, `url`, `vendor`, `source`, `description`, `install_date` and `license`, as far as known.
 *
 * @param failhard false: leave out packages that are not known instead of failing
 * @param names names of packages
 * @example tsalt-ssh '*' pkg.info_installed nginx
 */
export const info_installed = async (
  { failhard = true }: { failhard?: boolean },
  ...names: string[]
): Promise<{ [name: string]: { [field: string]: string } }> => {
  const format = `\${db:Status-Abbrev}\n${infoFields.map(field => `\${${field}}`).join('\x1f')}\x1e`;
  const { code, stdout, stderr } = await apt(['-W', '-f', format, '--', ...names], {
    program: 'dpkg-query',
  });
  if (code !== 0 && failhard)
    throw new CommandExecutionError(`Error getting packages information: ${stderr.trim()}`);
  const infos: { [name: string]: { [field: string]: string } } = {};
  for (const record of stdout.split('\x1e')) {
    const end = record.indexOf('\n');
    if (record.slice(0, end).trim()[1] !== 'i') continue;
    const info = readInfo(record.slice(end + 1));
    infos[info.name ?? ''] = info;
  }
  return infos;
};

const readInfo = (record: string): { [field: string]: string } => {
  const info: { [field: string]: string } = {};
  record.split('\x1f').forEach((value, at) => {
    const field = infoFields[at] ?? '';
    if (value !== '') info[infoNames[field] ?? field.replace(/:.*/, '').toLowerCase()] = value;
  });
  const date = changedAt(`/var/lib/dpkg/info/${info.name}.list`);
  const licenses = [
    ...new Set(
      [...(readOr(`/usr/share/doc/${info.name}/copyright`) ?? '').matchAll(/^License:(.*)$/gm)].map(
        match => (match[1] ?? '').trim(),
      ),
    ),
  ];
  return {
    ...info,
    ...(date === undefined ? {} : { install_date: date }),
    ...(licenses.length > 0 ? { license: licenses.sort().join(', ') } : {}),
  };
};

const changedAt = (path: string): string | undefined => {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats?.mtime.toISOString().replace(/\.\d+Z$/, 'Z');
};
