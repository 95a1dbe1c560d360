/**
 * Time, name, reboot and shutdown of the host.
 *
 * @platform linux
 */

import { runCommand } from '../../../_shared/commands/run-command.ts';
import { which } from '../../../_shared/commands/which.ts';
import { writeAtomic } from '../../../_shared/files/atomic-write.ts';
import { existsSync } from '../../../_shared/safe-fs/fs.ts';
import { __opts__, CommandExecutionError, SaltInvocationError } from '../../../api.ts';

/** Runs `shutdown` in a minute at the earliest: the answer of this call gets home before. */
const shutdownIn = async (
  flag: string,
  at_time: number | string | null,
  message: string | null,
): Promise<string> => {
  if (__opts__.test) return `The system would be told: shutdown ${flag}`;
  const when = at_time === null ? '+1' : typeof at_time === 'number' ? `+${at_time}` : at_time;
  if (!/^(?:now|\+\d+|\d{1,2}:\d{2})$/.test(when))
    throw new SaltInvocationError(`Not a time for shutdown: ${when}. Write minutes, HH:MM or now.`);
  const { code, stdout, stderr } = await runCommand(
    ['shutdown', flag, '--', when, ...(message ? [message] : [])],
    { plainLocale: true, cwd: '/' },
  );
  if (code !== 0) throw new CommandExecutionError(stderr.trim() || 'shutdown failed');
  return (stdout.trim() || stderr.trim()).split('\n')[0] ?? '';
};

/**
 * Restarts this machine.
 *
 * @param at_time minutes from now, HH:MM or `now`; a minute by default
 * @param message a message for those who are logged in
 * @example tsalt-ssh 'web1' system.reboot
 */
export const reboot = async (
  at_time: number | string | null = null,
  { message = null }: { message?: string | null } = {},
): Promise<string> => shutdownIn('-r', at_time, message);

/**
 * Switches this machine off.
 *
 * @param at_time minutes from now, HH:MM or `now`; a minute by default
 * @param message a message for those who are logged in
 * @example tsalt-ssh 'web1' system.poweroff
 */
export const poweroff = async (
  at_time: number | string | null = null,
  { message = null }: { message?: string | null } = {},
): Promise<string> => shutdownIn('-P', at_time, message);

/**
 * Stops this machine.
 *
 * @param at_time minutes from now, HH:MM or `now`; a minute by default
 * @param message a message for those who are logged in
 * @example tsalt-ssh 'web1' system.halt
 */
export const halt = async (
  at_time: number | string | null = null,
  { message = null }: { message?: string | null } = {},
): Promise<string> => shutdownIn('-H', at_time, message);

/** Salt's other name of `system.poweroff`. */
export const shutdown = poweroff;

/**
 * Takes back a restart or power-off that has not begun.
 *
 * @example tsalt-ssh 'web1' system.cancel
 */
export const cancel = async (): Promise<boolean> =>
  (await runCommand(['shutdown', '-c'], { plainLocale: true, cwd: '/' })).code === 0;

/**
 * Whether a restart is due: a package said so, or (where `needs-restarting` is installed) the
 * kernel or a library that everything uses was replaced.
 *
 * @example tsalt-ssh '*' system.get_pending_reboot
 */
export const get_pending_reboot = async (): Promise<boolean> => {
  if (await get_reboot_required_witnessed()) return true;
  if (which('needs-restarting') === undefined) return false;
  return (await runCommand(['needs-restarting', '-r'], { plainLocale: true })).code === 1;
};

/**
 * Whether a package said that a restart is due: a kernel or library was replaced.
 *
 * @example tsalt-ssh '*' system.get_reboot_required_witnessed
 */
export const get_reboot_required_witnessed = async (): Promise<boolean> =>
  existsSync('/run/reboot-required') || existsSync('/var/run/reboot-required');

/**
 * Marks that a restart is due, as packages of Debian do: `get_reboot_required_witnessed` sees it
 * until then.
 *
 * @example tsalt-ssh '*' system.set_reboot_required_witnessed
 */
export const set_reboot_required_witnessed = async (): Promise<boolean> => {
  writeAtomic('/run/reboot-required', '*** System restart required ***\n', { mode: 0o644 });
  return true;
};

/**
 * Changes the runlevel: `systemctl isolate runlevelN.target` where systemd runs.
 *
 * @param runlevel 0 to 6, `s`
 * @example tsalt-ssh '*' system.init 3
 */
export const init = async (runlevel: string | number): Promise<string> => {
  if (!/^[0-6sSqQ]$/.test(String(runlevel)))
    throw new SaltInvocationError(`Not a runlevel: ${runlevel}`);
  if (__opts__.test) return `The system would be told: init ${runlevel}`;
  const { code, stdout, stderr } = await runCommand(['init', String(runlevel)], {
    plainLocale: true,
    cwd: '/',
  });
  if (code !== 0) throw new CommandExecutionError(stderr.trim() || 'init failed');
  return stdout.trim();
};
