/**
 * Restart and power-off of the host.
 *
 * @platform linux
 */
import { messageOf } from '../../../protocol/error.ts';
import { lowTag } from '../../../protocol/low.ts';
import { isPlainDict } from '../../../protocol/plain.ts';
import { readOr } from '../../_shared/files/read-file.ts';
import { salt } from '../../_shared/states/call.ts';
import { changed, failed, inPlan, unchanged, would } from '../../_shared/states/returns.ts';
import { __context__, __low__, __opts__, type StateReturn } from '../../api.ts';

const bootFile = '/proc/sys/kernel/random/boot_id';

/** Salt's arguments about the time. */
type When = { timeout: number; in_seconds: boolean; force_close: boolean };

/** Minutes until it begins, whole ones: that is what `shutdown` takes. */
const minutesOf = ({ timeout, in_seconds }: When): number =>
  in_seconds ? Math.ceil(timeout / 60) : Math.ceil(timeout);

const faultOf = ({ timeout, force_close }: When): string | undefined => {
  if (!force_close)
    return 'The value false of "force_close" is not supported: programs are never asked.';
  if (!(timeout >= 0)) return '"timeout" must be a number from 0 on.';
  return undefined;
};

/**
 * The host is restarted in the middle of the run: control waits until it is back, connects again
 * and goes on with the states that are left. Those before keep their results, so requisites
 * and `listen` work across the restart. The state is done when the kernel's boot id has changed.
 *
 * @param name any name
 * @param message a message for those who are logged in
 * @param timeout minutes until it begins; logged-in users are notified. Salt's default is 5
 * @param force_close true is the only value: programs are not asked
 * @param in_seconds `timeout` counts seconds; they are rounded up to minutes
 * @param only_on_pending_reboot restart only when the system says that one is due
 * @param wait seconds the host may take until it is back
 * @example
 * new kernel runs:
 *   system.reboot:
 *     - only_on_pending_reboot: false
 *     - onchanges:
 *       - pkg: linux-image-amd64
 */
export const reboot = async (
  name: string,
  {
    message = null,
    timeout = 0,
    force_close = true,
    in_seconds = false,
    only_on_pending_reboot = true,
    wait = 600,
  }: {
    message?: string | null;
    timeout?: number;
    force_close?: boolean;
    in_seconds?: boolean;
    only_on_pending_reboot?: boolean;
    wait?: number;
  } = {},
): Promise<StateReturn> => {
  const when = { timeout, in_seconds, force_close };
  const resumed = resumedHere();
  if (resumed) return afterRestart(name, resumed);
  const fault = faultOf(when) ?? faultOfRun(wait);
  if (fault !== undefined) return failed(name, fault);
  if (only_on_pending_reboot && !(await salt('system.get_pending_reboot')()))
    return unchanged(
      name,
      __opts__.test
        ? 'System reboot will be skipped because no reboot is pending'
        : 'System reboot has been skipped because no reboot was pending',
    );
  const boot = bootId();
  if (boot === undefined)
    return failed(name, `There is no ${bootFile}: whether the host was restarted cannot be told.`);
  if (__opts__.test) return would(name, 'The system would be restarted', inPlan({ restart: boot }));
  return {
    ...unchanged(name, 'The system is to be restarted'),
    restart: { boot, delay: minutesOf(when), wait, ...(message === null ? {} : { message }) },
  };
};

/**
 * The host is switched off (or restarted, with `reboot`) a minute after this state at the
 * earliest, so that the run can end. The last state of a run.
 *
 * @param name any name
 * @param message a message for those who are logged in
 * @param timeout minutes until it begins, at least 1
 * @param force_close true is the only value: programs are not asked
 * @param reboot restart instead; the run does not wait for it, see `system.reboot`
 * @param in_seconds `timeout` counts seconds; they are rounded up to minutes
 * @param only_on_pending_reboot only when the system says that a restart is due
 * @example
 * retired:
 *   system.shutdown:
 *     - message: This host goes out of service.
 *     - order: last
 */
export const shutdown = async (
  name: string,
  {
    message = null,
    timeout = 5,
    force_close = true,
    reboot: restarts = false,
    in_seconds = false,
    only_on_pending_reboot = false,
  }: {
    message?: string | null;
    timeout?: number;
    force_close?: boolean;
    reboot?: boolean;
    in_seconds?: boolean;
    only_on_pending_reboot?: boolean;
  } = {},
): Promise<StateReturn> => {
  const action = restarts ? 'reboot' : 'shutdown';
  const when = { timeout, in_seconds, force_close };
  const fault = faultOf(when);
  if (fault !== undefined) return failed(name, fault);
  if (only_on_pending_reboot && !(await salt('system.get_pending_reboot')()))
    return unchanged(
      name,
      __opts__.test
        ? `System ${action} will be skipped because no reboot is pending`
        : `System ${action} has been skipped because no reboot was pending`,
    );
  if (__opts__.test)
    return would(
      name,
      `Will attempt to schedule a ${action}`,
      inPlan({ old: 'No reboot or shutdown was scheduled', new: `A ${action} has been scheduled` }),
    );
  try {
    const options = message === null ? {} : { message };
    await salt(restarts ? 'system.reboot' : 'system.poweroff')(
      Math.max(1, minutesOf(when)),
      options,
    );
  } catch (error) {
    return failed(name, `Request to ${action} failed: ${messageOf(error)}`);
  }
  return changed(name, `Request to ${action} was successful`, {
    old: 'No reboot or shutdown was scheduled',
    new: `A ${action} has been scheduled`,
  });
};

/** Restarts the host when something it watches changed. */
export const mod_watch = async (
  name: string,
  { sfun = 'reboot', ...options }: { sfun?: string; [option: string]: unknown } = {},
): Promise<StateReturn> => {
  if (sfun === 'reboot') return reboot(name, { ...options, only_on_pending_reboot: false });
  if (sfun === 'shutdown') return shutdown(name, { ...options, only_on_pending_reboot: false });
  return failed(name, `system.${sfun} does not work with the watch requisite`);
};

const faultOfRun = (wait: number): string | undefined => {
  if (__low__.parallel === true)
    return 'A restart cannot run beside other states: take "parallel" away.';
  return wait > 0 ? undefined : '"wait" must be a number of seconds above 0.';
};

const bootId = (): string | undefined => readOr(bootFile)?.trim();

type Resumed = { readonly boot: string; readonly took: number; readonly failed?: string };

/** The restart this state asked for, when the run goes on after it. */
const resumedHere = (): Resumed | undefined => {
  const { __resume__: resume } = __context__;
  if (!isPlainDict(resume) || !isPlainDict(resume.restart)) return undefined;
  const { restart, took, failed: why } = resume;
  if (restart.tag !== lowTag({ ...__low__ } as never)) return undefined;
  return {
    boot: String(restart.boot),
    took: Number(took),
    ...(why === undefined ? {} : { failed: String(why) }),
  };
};

const afterRestart = (name: string, { boot, took, failed: why }: Resumed): StateReturn => {
  if (why !== undefined) return failed(name, `The system could not be restarted: ${why}`);
  const now = bootId();
  if (now === undefined || now === boot) return failed(name, 'The system was not restarted.');
  return changed(name, `The system was restarted and came back within ${Math.ceil(took)} seconds`, {
    boot_id: { old: boot, new: now },
  });
};
