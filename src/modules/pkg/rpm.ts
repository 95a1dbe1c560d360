import { getOwn } from '../../protocol/plain.ts';
import { compareRpm } from '../_shared/text/package-version.ts';
import { __grains__, CommandExecutionError } from '../api.ts';
import { type Downloaded, downloadedOf, filesBelow } from './downloaded-packages.ts';
import type { PackageList } from './packages.ts';
import { rpm } from './rpm-run.ts';

/** The query format of rpm and repoquery. */
export const rpmFormat = ['NAME', 'EPOCH', 'VERSION', 'RELEASE', 'ARCH']
  .map(field => `%{${field}}`)
  .join('_|-');

/** Lines of `name_|-epoch_|-version_|-release_|-arch`. */
export const parseRpmList = (text: string, native: string): PackageList => {
  const list: PackageList = {};
  for (const line of text.split('\n')) {
    const [name, epoch, version, release, arch] = line.trim().split('_|-');
    if (!name || !version || !release || name === 'gpg-pubkey') continue;
    const isNative = !arch || arch === '(none)' || isNativeArch(arch, native);
    const key = isNative ? name : `${name}.${arch}`;
    const prefix = epoch && epoch !== '(none)' && epoch !== '0' ? `${epoch}:` : '';
    const full = `${prefix}${version}-${release}`;
    if (!getOwn(list, key)?.includes(full))
      list[key] = [...(getOwn(list, key) ?? []), full].sort(compareRpm);
  }
  return list;
};

/** Groups of architectures that can run each other's packages. */
const families = [/^i[3-6]86$/, /^armv\d/];

/** Whether packages of this architecture have their plain name on a system of the other. */
export const isNativeArch = (arch: string, native: string): boolean =>
  arch === native ||
  arch === 'noarch' ||
  families.some(family => family.test(arch) && family.test(native));

export const nativeArch = (): string => String(__grains__.osarch ?? __grains__.cpuarch ?? '');

/** Lists the packages that rpm has installed, here or below a folder. */
export const installedRpms = async (root: string | null = null): Promise<PackageList> => {
  const { code, stdout, stderr } = await rpm(['-qa', '--queryformat', `${rpmFormat}\n`], root);
  if (code !== 0) throw new CommandExecutionError(`rpm -qa failed: ${stderr.trim()}`);
  return parseRpmList(stdout, nativeArch());
};

/** Lists the package files in the caches of a package manager. */
export const downloadedRpms = async (folders: readonly string[]): Promise<Downloaded> => {
  const files = folders.flatMap(folder => filesBelow(folder, '.rpm'));
  const found: [string, string, string][] = [];
  for (const file of files)
    for (const [name, versions] of Object.entries(await rpmsIn(file)))
      found.push([file, name, versions[0] ?? '']);
  return downloadedOf(found);
};

const rpmsIn = async (file: string): Promise<PackageList> => {
  const { stdout } = await rpm([
    '-qp',
    '--nosignature',
    '--queryformat',
    `${rpmFormat}\n`,
    '--',
    file,
  ]);
  return parseRpmList(stdout, nativeArch());
};

/** Returns the version of a package file; undefined for other files. */
export const rpmFileVersion = async (file: string): Promise<string | undefined> =>
  Object.values(await rpmsIn(file))[0]?.[0];
