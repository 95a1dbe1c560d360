/** The newest kernel is installed, and runs. */
import { messageOf } from '../../../protocol/error.ts';
import { hasFunction, salt } from '../../_shared/states/call.ts';
import { changed, failed, inPlan, unchanged, would } from '../../_shared/states/returns.ts';
import { __opts__, type PlainDict, type StateReturn } from '../../api.ts';

export const __virtual__ = (): true | [false, string] =>
  hasFunction('kernelpkg.upgrade') || [false, 'kernelpkg module could not be loaded'];

/**
 * The newest kernel that the repositories have is installed. It runs after the next restart.
 *
 * @param name any name
 * @unknown ignored
 * @example
 * newest kernel:
 *   kernelpkg.latest_installed
 */
export const latest_installed = async (name: string): Promise<StateReturn> => {
  try {
    const installed: string[] = await salt('kernelpkg.list_installed')();
    const newest: string | null = await salt('kernelpkg.latest_available')();
    if (newest !== null && installed.includes(newest))
      return unchanged(name, `The latest kernel package is already installed: ${newest}`);
    if (__opts__.test)
      return would(
        name,
        `The latest kernel package will be installed: ${newest}`,
        inPlan({ [newest ?? 'kernel']: { old: '', new: newest } }),
      );
    const { upgrades }: { upgrades: PlainDict } = await salt('kernelpkg.upgrade')();
    const comment = 'The latest kernel package has been installed, but not activated.';
    return changed(name, comment, upgrades);
  } catch (error) {
    return failed(name, messageOf(error));
  }
};

/**
 * The newest installed kernel is running. If not, restarts the host, by default after one minute.
 * The run does not wait for the restart; use `system.reboot` for that.
 *
 * @param name any name
 * @param at_time minutes until it restarts
 * @unknown ignored
 * @example
 * newest kernel runs:
 *   kernelpkg.latest_active:
 *     - at_time: 5
 *     - onchanges:
 *       - kernelpkg: newest kernel
 */
export const latest_active = async (
  name: string,
  { at_time = null }: { at_time?: number | string | null } = {},
): Promise<StateReturn> => {
  try {
    const active: string = await salt('kernelpkg.active')();
    if (!(await salt('kernelpkg.needs_reboot')()))
      return unchanged(name, `The latest installed kernel package is active: ${active}`);
    const latest: string = await salt('kernelpkg.latest_installed')();
    const comment = `The system will be booted to activate kernel: ${latest}`;
    const changes = { kernel: { old: active, new: latest } };
    if (__opts__.test) return would(name, comment, changes);
    await salt('system.reboot')(at_time);
    return changed(name, comment, changes);
  } catch (error) {
    return failed(name, messageOf(error));
  }
};

/**
 * Does the same as `kernelpkg.latest_active`, but only after a change of a state that it watches or
 * listens to.
 *
 * @param name any name
 * @param at_time minutes until it restarts
 * @unknown ignored
 * @example
 * newest kernel runs:
 *   kernelpkg.latest_wait:
 *     - at_time: 1
 *     - listen:
 *       - kernelpkg: newest kernel
 */
export const latest_wait = async (
  name: string,
  { at_time: _atTime = null }: { at_time?: number | string | null } = {},
): Promise<StateReturn> => unchanged(name, '');

/** Restarts the host for a new kernel when a watched state has changed. */
export const mod_watch = async (
  name: string,
  { sfun = '', at_time = null }: { sfun?: string; at_time?: number | string | null } = {},
): Promise<StateReturn> =>
  sfun === 'latest_active' || sfun === 'latest_wait'
    ? latest_active(name, { at_time })
    : failed(name, `kernelpkg.${sfun} does not work with the watch requisite.`);
