import { getOwn } from '../../protocol/plain.ts';
import { toList } from '../_shared/states/values.ts';
import type { Plain } from '../api.ts';
import { installedBy } from './package-manager.ts';
import { forgetPackages, shownPackages } from './packages.ts';
import { installedRpms, rpmFormat } from './rpm.ts';
import { splitArch } from './rpm-names.ts';
import { rpm, rpmTime } from './rpm-run.ts';

type Attributes = {
  epoch?: string | null;
  version?: string;
  release?: string | null;
  arch?: string;
  install_date?: string | null;
  install_date_time_t?: number | null;
};

export type RpmListOptions = {
  versions_as_list?: boolean;
  removed?: boolean;
  purge_desired?: boolean;
  attr?: Plain;
  use_context?: boolean;
  root?: string | null;
  [other: string]: unknown;
};

/**
 * The installed packages with their versions.
 *
 * @param versions_as_list true: a list of versions for each
 * @param attr what to return for each instead: `all`, or some of `epoch`, `version`, `release`,
 * `arch`, `install_date` and `install_date_time_t`
 * @param use_context false: ask rpm again
 * @param root a folder with another system
 * @example tsalt-ssh '*' pkg.list_pkgs attr=version,install_date
 */
export const rpmListPkgs = async ({
  versions_as_list = false,
  removed = false,
  purge_desired = false,
  attr = null,
  use_context = true,
  root = null,
}: RpmListOptions = {}): Promise<{ [name: string]: string | string[] | Attributes[] }> => {
  if (removed || purge_desired) return {};
  const wanted = toList(attr);
  if (wanted.length > 0) return withAttributes(wanted, root);
  if (!use_context) forgetPackages();
  return shownPackages(await installedBy({ list: installedRpms }, root), versions_as_list);
};

const withAttributes = async (
  wanted: readonly string[],
  root: string | null,
): Promise<{ [name: string]: Attributes[] }> => {
  const format = `${rpmFormat}_|-%{INSTALLTIME}\n`;
  const { stdout } = await rpm(['-qa', '--queryformat', format], root);
  const isWanted = (key: string): boolean =>
    wanted.includes('all') || wanted.includes(key) || key === 'version' || key === 'arch';
  const found: { [name: string]: Attributes[] } = {};
  for (const line of stdout.split('\n')) {
    const [name, epoch, version = '', release, arch = '', time] = line.split('_|-');
    if (!name || name === 'gpg-pubkey' || time === undefined) continue;
    const seconds = Number(time) || null;
    const all: Required<Attributes> = {
      epoch: epoch === '(none)' || epoch === '0' ? null : (epoch ?? null),
      version,
      release: release || null,
      arch,
      install_date: seconds ? rpmTime(seconds) : null,
      install_date_time_t: seconds,
    };
    const plain = splitArch(name).name;
    const kept: Attributes = Object.fromEntries(
      Object.entries(all).filter(([key]) => isWanted(key)),
    );
    found[plain] = [...(getOwn(found, plain) ?? []), kept];
  }
  return found;
};
