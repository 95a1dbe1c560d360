import { fnmatch } from '../../../../data/python/glob.ts';
import { inRoot } from '../../../_shared/commands/other-root.ts';
import { readOr } from '../../../_shared/files/read-file.ts';
import { compareRpm } from '../../../_shared/text/package-version.ts';
import { xmlElements, xmlText } from '../../../_shared/text/xml-elements.ts';
import { CommandExecutionError, type Plain, SaltInvocationError } from '../../../api.ts';
import { refreshWith, runManager } from '../../package-manager.ts';
import { parsePackageArguments } from '../../packages.ts';
import { rpmDiff } from '../../rpm-diff.ts';
import { rpm } from '../../rpm-run.ts';
import { zypper } from '../../zypper.ts';
import { readZypper, zypperLine, zypperLocked } from '../../zypper-run.ts';

type Options = { refresh?: boolean; root?: string | null; [other: string]: unknown };

/**
 * Returns the repositories' data about packages: `version`, `arch`, `repository`, `status`,
 * `summary` …
 *
 * @param refresh false: without fetching the repositories' data first
 * @param root a folder with another system
 * @param names names of packages
 * @example tsalt-ssh '*' pkg.info_available bash
 */
export const info_available = async (
  { refresh = true, root = null }: Options,
  ...names: string[]
): Promise<{ [name: string]: { [field: string]: string | boolean } }> => {
  if (names.length === 0) return {};
  if (refresh) await refreshWith(zypper, { root });
  const line = zypperLine(root, 'info', '-t', 'package', ...new Set(names));
  return _parseInfo((await runManager(line, zypperLocked)).stdout);
};

/** `Information for package x:` blocks of `Field : value` lines. */
export const _parseInfo = (
  text: string,
): { [name: string]: { [field: string]: string | boolean } } => {
  const infos: { [name: string]: { [field: string]: string | boolean } } = {};
  for (const block of text.split(/^Information for .*$/m)) {
    const fields = [...block.matchAll(/^([A-Za-z][\w ]*?)\s*:[ \t]*(\S.*?)\s*$/gm)].map(
      ([, key = '', value = '']) => [key.toLowerCase(), value] as const,
    );
    const { name, ...info } = Object.fromEntries(fields) as { [field: string]: string };
    if (name === undefined) continue;
    const { installed } = info;
    infos[name] = {
      ...info,
      ...(installed === undefined ? {} : { installed: installed.toLowerCase().startsWith('yes') }),
    };
  }
  return infos;
};

/**
 * Lists all versions in the repositories, newest first.
 *
 * @param byrepo true: by repository
 * @param fromrepo this repository only
 * @param root a folder with another system
 * @param names names of packages, or globs; by default all
 * @example tsalt-ssh '*' pkg.list_repo_pkgs 'samba*' byrepo=True
 */
export const list_repo_pkgs = async (
  {
    byrepo = false,
    fromrepo = null,
    root = null,
  }: { byrepo?: boolean; fromrepo?: string | null } & Options,
  ...names: string[]
): Promise<{ [name: string]: string[] | { [name: string]: string[] } }> => {
  const repos: { [repo: string]: { [name: string]: string[] } } = {};
  const all: { [name: string]: string[] } = {};
  const add = (list: { [name: string]: string[] }, name: string, version: string): void => {
    const known = list[name] ?? [];
    if (!known.includes(version))
      list[name] = [...known, version].sort((one, two) => compareRpm(two, one));
  };
  const xml = await readZypper(root, 'search', '-s', ...names);
  for (const { attributes } of xmlElements(xml, 'solvable')) {
    const { kind, name = '', edition = '', repository = '' } = attributes;
    if (kind !== 'package' || repository === '(System Packages)') continue;
    if (fromrepo && repository !== fromrepo) continue;
    if (names.length > 0 && !names.some(one => fnmatch(name, one))) continue;
    repos[repository] ??= {};
    add(repos[repository], name, edition);
    add(all, name, edition);
  }
  return byrepo ? repos : all;
};

const searchOptions: Readonly<Record<string, string>> = {
  provides: '--provides',
  recommends: '--recommends',
  requires: '--requires',
  suggests: '--suggests',
  conflicts: '--conflicts',
  obsoletes: '--obsoletes',
  file_list: '--file-list',
  search_descriptions: '--search-descriptions',
  case_sensitive: '--case-sensitive',
  installed_only: '--installed-only',
  not_installed_only: '-u',
  details: '--details',
};

type Found = { [name: string]: { [attribute: string]: string } };

/**
 * Searches packages, and returns zypper's data about each.
 *
 * @param criteria the search string
 * @param refresh true: fetch the repositories' data first
 * @param match `exact`, `words` or `substrings`
 * @param provides true: search what packages provide; likewise `requires`, `recommends`,
 * `suggests`,
 * `conflicts`, `obsoletes`, `file_list` and `search_descriptions`
 * @param case_sensitive true: match case
 * @param installed_only true: only installed packages; `not_installed_only`: only the others
 * @param details true: list each version of each repository
 * @param root a folder with another system
 * @example tsalt-ssh '*' pkg.search nginx match=exact
 */
export const search = async (
  criteria: string,
  {
    refresh = false,
    match = null,
    root = null,
    ...options
  }: { match?: string | null; provides?: boolean } & Options = {},
): Promise<Found> => {
  if (refresh) await refreshWith(zypper, { root });
  const words = Object.entries(options).flatMap(([key, value]) =>
    searchOptions[key] && value !== false ? [searchOptions[key]] : [],
  );
  const matching = ['exact', 'words', 'substrings'].includes(match ?? '')
    ? [`--match-${match}`]
    : [];
  const xml = await readZypper(root, 'search', ...matching, ...words, criteria);
  const found = xmlElements(xml, 'solvable');
  if (found.length === 0)
    throw new CommandExecutionError(`No packages found matching '${criteria}'`);
  return Object.fromEntries(found.map(({ attributes }) => [attributes.name ?? '', attributes]));
};

/**
 * Replaces capabilities by the packages that provide them, unless a package has that name.
 *
 * @param pkgs names, or `{name: version}`
 * @param refresh true: fetch the repositories' data first
 * @param resolve_capabilities false: return the names unchanged
 * @param root a folder with another system
 * @example tsalt-ssh '*' pkg.resolve_capabilities '[cron]' resolve_capabilities=True
 */
export const resolve_capabilities = async (
  pkgs: Plain,
  {
    refresh = false,
    resolve_capabilities: resolving = false,
    root = null,
  }: { resolve_capabilities?: boolean } & Options = {},
): Promise<Plain[]> => {
  if (refresh) await refreshWith(zypper, { root });
  const resolved: Plain[] = [];
  for (const [name, version] of parsePackageArguments(pkgs)) {
    const package_ = resolving ? await providerOf(name, root) : name;
    resolved.push(version === null ? package_ : { [package_]: version });
  }
  return resolved;
};

/** Returns a package by its own name, or the only one that provides it. */
const providerOf = async (name: string, root: string | null): Promise<string> => {
  const isThere = await search(name, { root, match: 'exact' }).catch(() => null);
  if (isThere) return name;
  const found = await search(name, { root, match: 'exact', provides: true }).catch(() => ({}));
  const [only, ...more] = Object.keys(found);
  return only !== undefined && more.length === 0 ? only : name;
};

/**
 * Lists the capabilities of installed packages, except their own names.
 *
 * @param root a folder with another system
 * @example tsalt-ssh '*' pkg.list_provides
 */
export const list_provides = async ({
  root = null,
}: Options = {}): Promise<{
  [capability: string]: string[];
}> => {
  const { stdout } = await rpm(['-qa', '--queryformat', '[%{PROVIDES}\t%{=NAME}\n]'], root);
  const found: { [capability: string]: string[] } = {};
  for (const line of stdout.split('\n')) {
    const [capability = '', name] = line.split('\t');
    if (name === undefined || capability === name) continue;
    const known = found[capability] ?? [];
    if (!known.includes(name)) found[capability] = [...known, name];
  }
  return found;
};

/**
 * Lists the installed products of SUSE, or all in the repositories.
 *
 * @param all true: also those that are not installed
 * @param refresh true: fetch the repositories' data first
 * @param root a folder with another system
 * @example tsalt-ssh '*' pkg.list_products
 */
export const list_products = async ({
  all = false,
  refresh = false,
  root = null,
}: { all?: boolean } & Options = {}): Promise<{ [field: string]: string | boolean | number }[]> => {
  if (refresh) await refreshWith(zypper, { root });
  const words = all ? ['products'] : ['--disable-repositories', 'products', '-i'];
  const xml = await readZypper(root, ...words);
  return xmlElements(xml, 'product').map(({ attributes, inner }) =>
    productOf(attributes, inner, root),
  );
};

const productOf = (
  attributes: { readonly [name: string]: string },
  inner: string,
  root: string | null,
): { [field: string]: string | boolean | number } => {
  const told: { [field: string]: string | boolean | number } = {};
  for (const [key, value] of Object.entries(attributes))
    if (key === 'isbase' || key === 'installed') told[key] = value === 'true' || value === '1';
    else if (value !== '') told[key] = value;
  const end = xmlElements(inner, 'endoflife')[0];
  if (end) {
    told.eol = end.attributes.text ?? '';
    told.eol_t = Number(end.attributes.time_t ?? 0);
  }
  const description = xmlElements(inner, 'description')[0]?.inner ?? '';
  told.description = xmlText(description)
    .split('\n')
    .map(line => line.trim())
    .join(' ');
  const line = attributes.productline;
  const oem = line ? readOr(inRoot(`/var/lib/suseRegister/OEM/${line}`, root)) : undefined;
  const release = oem?.split('\n')[0]?.trim();
  return release ? { ...told, release } : told;
};

type Download = { 'repository-name': string; 'repository-alias': string; path: string };

/**
 * Downloads the files of packages.
 *
 * @param refresh true: fetch the repositories' data first
 * @param root a folder with another system
 * @param packages names of packages
 * @example tsalt-ssh '*' pkg.download httpd
 */
export const download = async (
  { refresh = false, root = null }: Options,
  ...packages: string[]
): Promise<{ [name: string]: Download | string }> => {
  if (packages.length === 0) throw new SaltInvocationError('No packages specified');
  if (refresh) await refreshWith(zypper, { root });
  const xml = await readZypper(root, 'download', ...packages);
  const found: { [name: string]: Download | string } = {};
  for (const { inner } of xmlElements(xml, 'download-result')) {
    const repo = xmlElements(inner, 'repository')[0]?.attributes ?? {};
    const path = xmlElements(inner, 'localfile')[0]?.attributes.path ?? '';
    const name = xmlText(xmlElements(inner, 'name')[0]?.inner ?? '').trim();
    if ((await rpm(['-K', '--quiet', '--', path], root)).code === 0)
      found[name] = {
        'repository-name': repo.name ?? '',
        'repository-alias': repo.alias ?? '',
        path,
      };
  }
  const missing = packages.filter(name => !found[name]);
  if (missing.length === packages.length)
    throw new CommandExecutionError(`Unable to download packages: ${packages.join(', ')}`);
  if (missing.length > 0)
    found._error = `The following package(s) failed to download: ${missing.join(', ')}`;
  return found;
};

/**
 * Compares files with their packages' versions: a unified diff, `Unchanged`, `Not managed` or `N/A`
 * (the file does not exist). Downloads the packages for the comparison.
 *
 * @param paths paths of files
 * @example tsalt-ssh '*' pkg.diff /etc/apache2/httpd.conf
 */
export const diff = async (...paths: string[]): Promise<{ [path: string]: string }> =>
  rpmDiff(paths, async names => {
    const files = Object.entries(await download({}, ...names));
    return new Map(
      files.flatMap(([name, one]) => (typeof one === 'string' ? [] : [[name, one.path] as const])),
    );
  });

/**
 * Returns the services that run outdated programs.
 *
 * @param root a folder with another system
 * @example tsalt-ssh '*' pkg.services_need_restart
 */
export const services_need_restart = async ({ root = null }: Options = {}): Promise<string[]> => {
  const { stdout } = await runManager(zypperLine(root, 'ps', '-sss'), zypperLocked);
  return stdout.split(/\s+/).filter(name => name !== '');
};
