import { runCommand } from '../_shared/commands/run-command.ts';
import { salt } from '../_shared/states/call.ts';
import { __grains__, CommandExecutionError, type PlainDict } from '../api.ts';
import { compareLoose } from './loose-version.ts';

/** How a system packs its kernels: what differs between packagers. */
export type KernelPackager = {
  readonly installed: () => Promise<string[]>;
  /** The newest one that can be had, or undefined when none is newer than what is installed. */
  readonly newest: () => Promise<string | undefined>;
  readonly upgrade: (newest: string) => Promise<PlainDict>;
  readonly remove: (release: string) => Promise<string>;
};

export const activeKernel = async (): Promise<string> =>
  await salt('pkg.normalize_name')(String(__grains__.kernelrelease ?? ''));

const prefix = 'linux-image';

/** The kind at the end of a kernel's release: `amd64` of `6.12.43+deb13-amd64`, `cloud-arm64`, `generic`. */
const typeOf = (release: string): string | undefined =>
  /^\d[^-]*(?:-\d[^-]*)*-(\D.*)$/.exec(release)?.[1];

const kernelType = async (): Promise<string> => {
  const active = await activeKernel();
  const type = typeOf(active);
  if (type === undefined)
    throw new CommandExecutionError(
      `The running kernel '${active}' is none of a package: its name does not end with a kind (as in 6.1.0-25-amd64).`,
    );
  return type;
};

/** Kernels of Debian and Ubuntu: a package for each release, and one that stands for the newest. */
export const aptKernels: KernelPackager = {
  installed: async () => {
    const type = await kernelType();
    const all: PlainDict = await salt('pkg.list_pkgs')({ versions_as_list: true });
    return Object.keys(all)
      .filter(name => name.startsWith(`${prefix}-`))
      .map(name => name.slice(prefix.length + 1))
      .filter(release => typeOf(release) === type);
  },
  newest: async () => {
    const type = await kernelType();
    const version: string = await salt('pkg.latest_version')(`${prefix}-${type}`);
    if (version === '') return undefined;
    const [, release, number] = /^(\d+\.\d+\.\d+)\.(\d+)/.exec(version) ?? [];
    return release ? `${release}-${number}-${type}` : await releaseIn(`${prefix}-${type}`, version);
  },
  upgrade: async newest => await salt('pkg.install')(`${prefix}-${newest}`),
  remove: async release => {
    const target = `${prefix}-${release}`;
    await salt('pkg.purge')(target);
    return target;
  },
};

/** Debian's version of the package that stands for the newest one is not the kernel's release: it depends on that. */
const releaseIn = async (name: string, version: string): Promise<string> => {
  const { stdout } = await runCommand(['apt-cache', 'show', '--', `${name}=${version}`], {
    plainLocale: true,
  });
  const depends = /^Depends:(.*)$/m.exec(stdout)?.[1] ?? '';
  const release = new RegExp(`\\b${prefix}-([\\d.]+\\S*)`).exec(depends)?.[1];
  if (release === undefined)
    throw new CommandExecutionError(`${name} ${version} does not say which kernel it stands for.`);
  return release;
};

/** Kernels of Red Hat and its kin: versions of one package, side by side. */
export const yumKernels: KernelPackager = {
  installed: async () => {
    const all: PlainDict = await salt('pkg.list_pkgs')({ versions_as_list: true });
    return [all.kernel ?? []].flat().map(String);
  },
  newest: async () => (await salt('pkg.latest_version')('kernel')) || undefined,
  upgrade: async () => await salt('pkg.upgrade')({ name: 'kernel' }),
  remove: async release => {
    await salt('pkg.remove')('kernel', { version: release });
    return `kernel-${release}`;
  },
};

/** The kernels in order, the newest last. */
export const sortedKernels = async (packager: KernelPackager): Promise<string[]> =>
  (await packager.installed()).sort(compareLoose);
