import { runCommand } from '../_shared/commands/run-command.ts';
import { salt } from '../_shared/states/call.ts';
import { __grains__, CommandExecutionError, type PlainDict } from '../api.ts';
import { compareLoose } from './loose-version.ts';

/** How a system packages its kernels. */
export type KernelPackager = {
  readonly installed: () => Promise<string[]>;
  /** The newest available kernel; undefined if it is not newer than the installed ones. */
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

/**
 * Kernels of Debian and Ubuntu: one package per release, and a metapackage that depends on the
 * newest.
 */
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

/**
 * Returns the kernel's release. On Debian the metapackage's version differs from it, so its
 * dependency is read.
 */
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

/** Kernels of Red Hat and its derivatives: versions of one package, installed side by side. */
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

/** Returns the kernels in order, the newest last. */
export const sortedKernels = async (packager: KernelPackager): Promise<string[]> =>
  (await packager.installed()).sort(compareLoose);
