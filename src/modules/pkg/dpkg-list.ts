import { getOwn } from '../../protocol/plain.ts';
import { compareDebian } from '../_shared/text/package-version.ts';
import { __grains__, CommandExecutionError } from '../api.ts';
import { apt } from './apt-run.ts';
import { type PackageList, rememberPackages } from './packages.ts';

/** Packages by their state in dpkg. */
type Listed = { installed: PackageList; removed: PackageList; purge_desired: PackageList };

export const dpkgList = (): Promise<Listed> => rememberPackages(readPackages);

const dpkgFields = ['Status', 'Package', 'Version', 'Architecture'];

const readPackages = async (): Promise<Listed> => {
  const { code, stdout, stderr } = await apt(
    ['--showformat', `${dpkgFields.map(field => `\${${field}}`).join(' ')}\n`, '-W'],
    { program: 'dpkg-query' },
  );
  if (code !== 0 && !/no packages found/.test(stderr))
    throw new CommandExecutionError(`dpkg-query failed: ${stderr.trim()}`);
  return parsePackages(stdout, String(__grains__.osarch ?? ''));
};

/** Lines of `desired error state name version architecture`. */
export const parsePackages = (text: string, native: string): Listed => {
  const all: Listed = { installed: {}, removed: {}, purge_desired: {} };
  for (const line of text.split('\n')) {
    const [desired, , state, name, version, arch] = line.trim().split(/\s+/);
    if (!desired || !state || !name || !version || !arch) continue;
    const key = arch === 'all' || native === '' || arch === native ? name : `${name}:${arch}`;
    const target =
      (desired === 'install' || desired === 'hold') && state.includes('installed')
        ? all.installed
        : desired === 'deinstall'
          ? all.removed
          : desired === 'purge' && state === 'installed'
            ? all.purge_desired
            : undefined;
    if (target) target[key] = [...(getOwn(target, key) ?? []), version].sort(compareDebian);
  }
  return all;
};

export const installedNow = async (): Promise<PackageList> => {
  const { installed, purge_desired } = await dpkgList();
  return { ...purge_desired, ...installed };
};
