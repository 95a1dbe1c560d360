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
    const [desired, , state, name, version, arch] = line.split(' ');
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
    if (!target) continue;
    const others = getOwn(target, key);
    target[key] = others ? [...others, version].sort(compareDebian) : [version];
  }
  return all;
};

export const installedNow = async (): Promise<PackageList> => installedIn(await dpkgList());

/** The packages that are installed, those to be purged included. */
export const installedIn = ({ installed, purge_desired }: Listed): PackageList =>
  // To copy the names of all packages takes longer than all else that is done with them.
  Object.keys(purge_desired).length === 0 ? installed : { ...purge_desired, ...installed };
