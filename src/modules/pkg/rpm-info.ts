import { getOwn } from '../../protocol/plain.ts';
import { toList } from '../_shared/states/values.ts';
import { compareRpm } from '../_shared/text/package-version.ts';
import { CommandExecutionError, type Plain } from '../api.ts';
import { rpm, rpmTime } from './rpm-run.ts';

type Info = { [field: string]: string | number };

const signature = ['DSAHEADER', 'RSAHEADER', 'SIGGPG', 'SIGPGP'].reduceRight(
  (rest, tag) => `%|${tag}?{%{${tag}:pgpsig}}:{${rest}}|`,
  '(none)',
);

/** rpm's query tags, by Salt's names. */
const tags: Readonly<Record<string, string>> = {
  name: '%{NAME}',
  relocations: '%|PREFIXES?{[%{PREFIXES} ]}:{(not relocatable)}|',
  version: '%{VERSION}',
  vendor: '%{VENDOR}',
  release: '%{RELEASE}',
  epoch: '%|EPOCH?{%{EPOCH}}|',
  build_date_time_t: '%{BUILDTIME}',
  build_date: '%{BUILDTIME}',
  install_date_time_t: '%|INSTALLTIME?{%{INSTALLTIME}}|',
  install_date: '%|INSTALLTIME?{%{INSTALLTIME}}|',
  build_host: '%{BUILDHOST}',
  group: '%{GROUP}',
  source_rpm: '%{SOURCERPM}',
  size: '%{LONGSIZE}',
  arch: '%{ARCH}',
  license: '%|LICENSE?{%{LICENSE}}|',
  signature,
  packager: '%|PACKAGER?{%{PACKAGER}}|',
  url: '%|URL?{%{URL}}|',
  summary: '%{SUMMARY}',
  description: '%{DESCRIPTION}',
  edition: '%|EPOCH?{%{EPOCH}:}|%{VERSION}-%{RELEASE}',
};

/** Separators of fields and packages: characters that do not occur in package data. */
const [fieldEnd, recordEnd] = ['\x1f', '\x1e'];

/**
 * Returns rpm's data about installed packages: `version`, `release`, `arch`, `vendor`, `license`,
 * `url`, `summary`, `description`, `build_date`, `install_date`, `source` … Without names, returns
 * all packages; packages that are not installed are left out.
 *
 * @param attr these fields only: a list, or names with commas between them
 * @param all_versions true: a list with the data of each installed version, the newest first
 * @param root a folder with another system
 * @param names names of packages
 * @example tsalt-ssh '*' pkg.info_installed bash attr=version,license
 */
export const rpmInfoInstalled = async (
  {
    attr = null,
    all_versions = false,
    root = null,
  }: { attr?: Plain; all_versions?: boolean; root?: string | null; [other: string]: unknown },
  ...names: string[]
): Promise<{ [name: string]: Info | Info[] }> => {
  const asked = toList(attr);
  const fields =
    asked.length > 0 ? asked.filter(one => Object.hasOwn(tags, one)) : Object.keys(tags);
  if (fields.length === 0) throw new CommandExecutionError('No valid attributes found.');
  const all = [...new Set([...fields, 'name', 'edition'])];
  const format = all.map(field => `${tags[field]}${fieldEnd}`).join('') + recordEnd;
  const which = names.length > 0 ? ['-q'] : ['-qa'];
  const { stdout } = await rpm([...which, '--queryformat', format, '--', ...names], root);
  const infos: { [name: string]: Info[] } = {};
  for (const record of stdout.split(recordEnd)) {
    const values = record.replace(/^(?:package .* is not installed\n)+/, '').split(fieldEnd);
    if (values.length <= all.length) continue;
    const { name = '', ...info } = infoOf(all, values);
    if (name !== 'gpg-pubkey') infos[name] = [...(getOwn(infos, String(name)) ?? []), info];
  }
  return Object.fromEntries(
    Object.entries(infos).map(([name, found]) => {
      const newest = found.toSorted((left, right) =>
        compareRpm(String(right.edition), String(left.edition)),
      );
      const { edition: _, ...first } = newest[0] ?? {};
      return [name, all_versions ? newest : first];
    }),
  );
};

const infoOf = (fields: readonly string[], values: readonly string[]): Info => {
  const info: Info = {};
  fields.forEach((field, at) => {
    const value = (values[at] ?? '').trim();
    if (value === '' && field !== 'description') return;
    const key = field === 'source_rpm' ? 'source' : field;
    if (field.endsWith('_time_t')) info[key] = Number(value);
    else if (field.endsWith('_date')) info[key] = rpmTime(Number(value));
    else info[key] = value;
  });
  return info;
};
