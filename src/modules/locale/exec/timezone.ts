/**
 * Manages the time zone of the host.
 *
 * @platform unix
 */

import { join } from 'node:path';
import { runCommand } from '../../_shared/commands/run-command.ts';
import { which } from '../../_shared/commands/which.ts';
import { writeAtomic } from '../../_shared/files/atomic-write.ts';
import { hashFile } from '../../_shared/files/file-hash.ts';
import { isLink } from '../../_shared/files/file-paths.ts';
import { existsSync, readFileSync, readlinkSync, realpathSync } from '../../_shared/safe-fs/fs.ts';
import { __salt__, CommandExecutionError, SaltInvocationError } from '../../api.ts';

const zones = '/usr/share/zoneinfo';

/**
 * Returns the time zone of this host, as `Europe/Berlin`.
 *
 * @example tsalt-ssh '*' timezone.get_zone
 */
export const get_zone = async (): Promise<string> => {
  if (isLink('/etc/localtime')) {
    const found = readlinkSync('/etc/localtime').match(/zoneinfo\/(?:posix\/|right\/)?(.+)$/)?.[1];
    if (found !== undefined) return found;
  }
  if (existsSync('/etc/timezone')) return readFileSync('/etc/timezone', 'utf8').trim();
  return 'UTC';
};

/**
 * Returns the abbreviation of the time zone at this moment.
 *
 * @example tsalt-ssh '*' timezone.get_zonecode
 */
export const get_zonecode = async (): Promise<string> =>
  new Intl.DateTimeFormat('en', { timeZone: await get_zone(), timeZoneName: 'short' })
    .formatToParts()
    .find(({ type }) => type === 'timeZoneName')?.value ?? '';

/**
 * Returns the current offset of the time zone from UTC, as `+0100`.
 *
 * @example tsalt-ssh '*' timezone.get_offset
 */
export const get_offset = async (): Promise<string> => {
  const { stdout } = await runCommand(['date', '+%z'], {
    plainLocale: true,
    env: { TZ: await get_zone() },
  });
  return stdout.trim();
};

/**
 * Sets the time zone.
 *
 * @param timezone the zone
 *
 * @example tsalt-ssh '*' timezone.set_zone Europe/Berlin
 */
export const set_zone = async (timezone: string): Promise<boolean> => {
  const file = zoneFile(timezone);
  await __salt__['file.symlink']?.(file, '/etc/localtime', { force: true, atomic: true });
  if (existsSync('/etc/timezone')) writeAtomic('/etc/timezone', `${timezone}\n`);
  return true;
};

/**
 * Whether this host is in a time zone, by whichever of its names.
 *
 * @param timezone the zone
 *
 * @example tsalt-ssh '*' timezone.zone_compare Europe/Berlin
 */
export const zone_compare = async (timezone: string): Promise<boolean> => {
  const file = zoneFile(timezone);
  if (!existsSync('/etc/localtime')) return /^(Etc\/)?UTC$/.test(timezone);
  if (realpathSync('/etc/localtime') === realpathSync(file)) return true;
  return (await get_zone()) === timezone && hashFile('/etc/localtime') === hashFile(file);
};

/**
 * Returns the time standard of the hardware clock: `UTC` or `localtime`.
 *
 * @example tsalt-ssh '*' timezone.get_hwclock
 */
export const get_hwclock = async (): Promise<string> => {
  const lines = existsSync('/etc/adjtime') ? readFileSync('/etc/adjtime', 'utf8').split('\n') : [];
  return lines[2]?.trim() === 'LOCAL' ? 'localtime' : 'UTC';
};

/**
 * Sets the time standard of the hardware clock. With systemd, this also sets the clock.
 *
 * @param clock `UTC` or `localtime`
 *
 * @example tsalt-ssh '*' timezone.set_hwclock UTC
 */
export const set_hwclock = async (clock: string): Promise<boolean> => {
  if (clock !== 'UTC' && clock !== 'localtime')
    throw new SaltInvocationError("clock must be either 'UTC' or 'localtime'");
  if (existsSync('/run/systemd/system') && which('timedatectl')) {
    const { code } = await runCommand([
      'timedatectl',
      'set-local-rtc',
      clock === 'localtime' ? 'true' : 'false',
    ]);
    return code === 0;
  }
  const lines = existsSync('/etc/adjtime') ? readFileSync('/etc/adjtime', 'utf8').split('\n') : [];
  const [drift = '0.0 0 0.0', last = '0'] = lines.filter(Boolean);
  writeAtomic('/etc/adjtime', `${drift}\n${last}\n${clock === 'UTC' ? 'UTC' : 'LOCAL'}\n`);
  return true;
};

const zoneFile = (timezone: string): string => {
  const file = join(zones, timezone);
  if (!/^[\w+-]+(\/[\w+-]+)*$/.test(timezone) || !existsSync(file))
    throw new CommandExecutionError(`Zone does not exist: ${file}`);
  return file;
};
