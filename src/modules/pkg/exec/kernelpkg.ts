/**
 * Packages of the kernel.
 *
 * @platform Debian, Red Hat and their derivatives
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
 * Lists the installed kernels, the newest last; with apt, those of the running one's kind
 * (`-amd64`, `-generic`).
 *
 * @example tsalt-ssh '*' kernelpkg.list_installed
 */
export const list_installed = async (): Promise<string[]> => sortedKernels(packager());

/**
 * Returns the newest kernel that can be installed, or else the newest installed one.
 *
 * @example tsalt-ssh '*' kernelpkg.latest_available
 */
export const latest_available = async (): Promise<string | null> =>
  (await packager().newest()) ?? (await latest_installed());

/**
 * Returns the newest installed kernel, which runs after the next restart.
 *
 * @example tsalt-ssh '*' kernelpkg.latest_installed
 */
export const latest_installed = async (): Promise<string | null> =>
  (await list_installed()).at(-1) ?? null;

/**
 * Whether a newer kernel than the running one is installed.
 *
 * @example tsalt-ssh '*' kernelpkg.needs_reboot
 */
export const needs_reboot = async (): Promise<boolean> => {
  const latest = await latest_installed();
  return latest !== null && compareLoose(await active(), latest) < 0;
};

/**
 * Whether a newer kernel than the installed ones is available.
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
 * @param reboot true: restart the host if the new kernel is not running
 * @param at_time minutes until the restart; by default one
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
 * Removes an installed kernel, except the running one: `{removed}`.
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
 * Removes all kernels except the running and the newest one: `{removed}`.
 *
 * @param keep_latest false: all except the running one
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
