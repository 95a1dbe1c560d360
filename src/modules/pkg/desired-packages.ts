import { getOwn } from '../../protocol/plain.ts';
import { hasFunction, salt } from '../_shared/states/call.ts';
import {
  compareAlpine,
  compareDebian,
  compareRpm,
  withoutEpoch,
} from '../_shared/text/package-version.ts';
import { plainStr } from '../_shared/text/python-text.ts';
import { __grains__, CommandExecutionError, type Plain } from '../api.ts';
import {
  type DesiredPackages,
  type PackageList,
  packageSources,
  parsePackageArguments,
} from './packages.ts';

export const currentPackages = async (): Promise<PackageList> =>
  salt('pkg.list_pkgs')({ versions_as_list: true });

/**
 * Returns the arguments that select repositories of dnf and yum: `latest_version` accepts them too.
 */
export const repoChoice = (options: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    ['enablerepo', 'disablerepo', 'disableexcludes', 'branch', 'setopt']
      .filter(key => options[key] !== null && options[key] !== undefined)
      .map(key => [key, options[key]]),
  );

export const latestVersions = async (
  names: readonly string[],
  options: { refresh: boolean; fromrepo: string | null; [repos: string]: unknown },
): Promise<{ [name: string]: string }> => {
  const found: unknown = await salt('pkg.latest_version')(...names, options);
  return typeof found === 'string'
    ? { [names[0] ?? '']: found }
    : (found as { [name: string]: string });
};

export const desiredPackages = async ({
  name,
  version,
  pkgs,
  sources,
  normalize,
}: {
  name: string;
  version: Plain;
  pkgs: Plain;
  sources: Plain;
  normalize: boolean;
}): Promise<DesiredPackages> => {
  const raw = sources
    ? new Map([...packageSources(sources)].map(([key, value]) => [key, value as string | null]))
    : parsePackageArguments(pkgs ?? [version === null ? name : { [name]: plainStr(version) }]);
  if (raw.size === 0) throw new CommandExecutionError('no packages');
  if (!normalize || !hasFunction('pkg.normalize_name')) return raw;
  const wanted: DesiredPackages = new Map();
  for (const [key, value] of raw) wanted.set(await normalName(key), value);
  return wanted;
};

/**
 * Resolves names with `resolve_capabilities` (zypper) to the packages that provide them, preferring
 * installed ones.
 */
export const withProviders = async (
  wanted: DesiredPackages,
  current: PackageList,
  { resolve_capabilities = false, root = null }: Record<string, unknown>,
): Promise<DesiredPackages> => {
  if (!resolve_capabilities || !hasFunction('pkg.resolve_capabilities')) return wanted;
  const provided: { [capability: string]: string[] } = await salt('pkg.list_provides')({ root });
  const pkgs = [...wanted].map(([name, version]) => {
    const provider = getOwn(current, name) ? name : (getOwn(provided, name)?.[0] ?? name);
    return version === null ? provider : { [provider]: version };
  });
  const options = { resolve_capabilities: true, root };
  return parsePackageArguments(await salt('pkg.resolve_capabilities')(pkgs, options));
};

/** Returns names without this system's own architecture. */
export const normalNames = async (names: readonly string[]): Promise<string[]> => {
  if (!hasFunction('pkg.normalize_name')) return [...names];
  const normal: string[] = [];
  for (const name of names) normal.push(await normalName(name));
  return normal;
};

const normalName = async (name: string): Promise<string> =>
  name.includes(':') || name.includes('.') ? salt('pkg.normalize_name')(name) : name;

/** Version comparisons of package managers other than Debian's. */
const orders = new Map([
  ['RedHat', compareRpm],
  ['Suse', compareRpm],
  ['Arch', compareRpm],
  ['Alpine', compareAlpine],
  ['MacOS', compareAlpine],
]);

export const compareVersions = (left: string, right: string, ignoreEpoch: boolean): number => {
  const compare = orders.get(String(__grains__.os_family)) ?? compareDebian;
  return ignoreEpoch ? compare(withoutEpoch(left), withoutEpoch(right)) : compare(left, right);
};
