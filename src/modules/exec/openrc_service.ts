/**
 * Services by OpenRC. Goes by the name `service`.
 *
 * @platform Alpine, Gentoo
 * @depends rc-service, rc-update
 */
import { __grains__ } from '../api.ts';
import {
  disabling,
  enabling,
  fullyRestarting,
  getAll,
  getDisabled,
  getEnabled,
  type InitSystem,
  isAvailable,
  isDisabled,
  isEnabled,
  isMissing,
  reloading,
  restarting,
  starting,
  statusBy,
  stopping,
} from '../lib/init-system.ts';
import { namesIn } from '../lib/read-file.ts';
import { runCommand } from '../lib/run-command.ts';
import { which } from '../lib/which.ts';

export const __virtualname__ = 'service';

export const __virtual__ = (): string | [false, string] =>
  __grains__.init === 'openrc' && which('rc-service')
    ? __virtualname__
    : [false, 'OpenRC does not run this system.'];

export const __func_alias__ = { reload_: 'reload' };

const run = (argv: readonly [string, ...string[]]) =>
  runCommand(argv, { plainLocale: true, cwd: '/' });

const notServices = ['functions.sh', 'README', 'skeleton'];

/** The runlevels that a service is in. */
const levelsOf = (name: string): string[] =>
  namesIn('/etc/runlevels').filter(level => namesIn(`/etc/runlevels/${level}`).includes(name));

const init: InitSystem = {
  act: (name, action) => run(['rc-service', name, action]),
  isUp: async name => (await run(['rc-service', name, 'status'])).code === 0,
  // rc-update fails for a runlevel that the service is not in.
  setBoot: async (name, on) => {
    if (on) return run(['rc-update', 'add', name]);
    const levels = levelsOf(name);
    return levels.length > 0 ? run(['rc-update', 'delete', name, ...levels]) : undefined;
  },
  all: async () => namesIn('/etc/init.d').filter(name => !notServices.includes(name)),
  // Whatever is in any runlevel.
  atBoot: async () => [
    ...new Set(namesIn('/etc/runlevels').flatMap(level => namesIn(`/etc/runlevels/${level}`))),
  ],
};

export const get_all = getAll(init);
export const get_enabled = getEnabled(init);
export const get_disabled = getDisabled(init);
export const start = starting(init);
export const stop = stopping(init);
export const restart = restarting(init);
export const reload_ = reloading(init);
export const full_restart = fullyRestarting(init);
export const status = statusBy(init);
export const enable = enabling(init);
export const disable = disabling(init);
export const enabled = isEnabled(init);
export const disabled = isDisabled(init);
export const available = isAvailable(init);
export const missing = isMissing(init);
