/**
 * Packages of the kernel.
 *
 * @platform Debian, Red Hat and their kin
 */

import { salt } from '../../_shared/states/call.ts';
import { __grains__, CommandExecutionError, type PlainDict } from '../../api.ts';
import {
  activeKernel,
  aptKernels,
  type KernelPackager,
  sortedKernels,
  yumKernels,
} from '../kernel-packages.ts';
import { compareLoose } from '../loose-version.ts';

const kernels = (): KernelPackager | undefined => {
  const { os_family, os } = __grains__;
  if (['Debian', 'Kali', 'Cumulus'].includes(String(os_family))) return aptKernels;
  const others = ['amazon', 'xcp', 'xenserver', 'virtuozzolinux'];
  return os_family === 'RedHat' || others.includes(String(os).toLowerCase())
    ? yumKernels
    : undefined;
};

export const __virtual__ = (): true | [false, string] =>
  kernels() !== undefined || [false, 'kernelpkg is for systems with apt, yum or dnf.'];

const packager = (): KernelPackager => kernels() ?? aptKernels;

/**
 * The running kernel.
 *
 * @example tsalt-ssh '*' kernelpkg.active
 */
export const active = async (): Promise<string> => activeKernel();

/**
 * The installed kernels, the newest last; of apt those of the running one's kind (`-amd64`, `-generic`).
 *
 * @example tsalt-ssh '*' kernelpkg.list_installed
 */
export const list_installed = async (): Promise<string[]> => sortedKernels(packager());

/**
 * The newest kernel that can be installed, or the newest installed one when there is none.
 *
 * @example tsalt-ssh '*' kernelpkg.latest_available
 */
export const latest_available = async (): Promise<string | null> =>
  (await packager().newest()) ?? (await latest_installed());

/**
 * The newest installed kernel; it runs after the next restart at the latest.
 *
 * @example tsalt-ssh '*' kernelpkg.latest_installed
 */
export const latest_installed = async (): Promise<string | null> =>
  (await list_installed()).at(-1) ?? null;

/**
 * Whether a kernel is installed that is newer than the running one.
 *
 * @example tsalt-ssh '*' kernelpkg.needs_reboot
 */
export const needs_reboot = async (): Promise<boolean> => {
  const latest = await latest_installed();
  return latest !== null && compareLoose(await active(), latest) < 0;
};

/**
 * Whether a kernel can be installed that is newer than those installed.
 *
 * @example tsalt-ssh '*' kernelpkg.upgrade_available
 */
export const upgrade_available = async (): Promise<boolean> => {
  const [have, offered] = [await latest_installed(), await latest_available()];
  return offered !== null && (have === null || compareLoose(offered, have) > 0);
};

/**
 * Installs the newest kernel: `{upgrades, active, latest_installed, reboot_requested, reboot_required}`.
 *
 * @param reboot true: restart the host when the new kernel does not run yet
 * @param at_time minutes until it restarts, a minute when not given
 * @example tsalt-ssh '*' kernelpkg.upgrade reboot=True at_time=5
 */
export const upgrade = async (
  reboot = false,
  at_time: number | string | null = null,
): Promise<PlainDict> => {
  const newest = await latest_available();
  if (newest === null)
    throw new CommandExecutionError('No package of a kernel is installed, and none is offered.');
  const upgrades = await packager().upgrade(newest);
  const isDue = await needs_reboot();
  const report = {
    upgrades,
    active: await active(),
    latest_installed: await latest_installed(),
    reboot_requested: reboot,
    reboot_required: isDue,
  };
  if (reboot && isDue) await salt('system.reboot')(at_time);
  return report;
};

/**
 * Removes an installed kernel, not the running one: `{removed}`.
 *
 * @param release the kernel, as `kernelpkg.list_installed` names it
 * @example tsalt-ssh '*' kernelpkg.remove 6.1.0-18-amd64
 */
export const remove = async (release: string): Promise<{ removed: string[] }> => {
  if (!(await list_installed()).includes(release))
    throw new CommandExecutionError(`Kernel release '${release}' is not installed`);
  if (release === (await active()))
    throw new CommandExecutionError('Active kernel cannot be removed');
  return { removed: [await packager().remove(release)] };
};

/**
 * Removes all kernels but the running and the newest one: `{removed}`.
 *
 * @param keep_latest false: all but the running one
 * @example tsalt-ssh '*' kernelpkg.cleanup
 */
export const cleanup = async (keep_latest = true): Promise<{ removed: string[] }> => {
  const all = await list_installed();
  const kept = [await active(), ...(keep_latest ? all.slice(-1) : [])];
  const removed: string[] = [];
  for (const release of all.filter(each => !kept.includes(each)))
    removed.push(await packager().remove(release));
  return { removed };
};
