/**
 * Services by OpenRC. Goes by the name `service`.
 *
 * @platform Alpine, Gentoo
 * @depends rc-service, rc-update
 */

import { runCommand } from '../../_shared/commands/run-command.ts';
import { which } from '../../_shared/commands/which.ts';
import { readNames } from '../../_shared/files/read-file.ts';
import { toList } from '../../_shared/states/values.ts';
import { __grains__, type Plain } from '../../api.ts';
import {
  fullyRestarting,
  getDisabled,
  good,
  type InitSystem,
  isAvailable,
  isDisabled,
  isMissing,
  reloading,
  restarting,
  starting,
  statusBy,
  stopping,
} from '../init-system.ts';

export const __virtualname__ = 'service';

export const __virtual__ = (): string | [false, string] =>
  __grains__.init === 'openrc' && which('rc-service')
    ? __virtualname__
    : [false, 'OpenRC does not run this system.'];

export const __func_alias__ = { reload_: 'reload' };

const run = (argv: readonly [string, ...string[]]) =>
  runCommand(argv, { plainLocale: true, cwd: '/' });

const notServices = ['functions.sh', 'README', 'skeleton'];

/** The runlevels that each service is in. */
const levelsByService = (): Map<string, string[]> => {
  const levels = new Map<string, string[]>();
  for (const level of readNames('/etc/runlevels').sort())
    for (const name of readNames(`/etc/runlevels/${level}`))
      levels.set(name, [...(levels.get(name) ?? []), level]);
  return levels;
};

const levelsOf = (name: string): string[] => levelsByService().get(name) ?? [];

const init: InitSystem = {
  act: (name, action) => run(['rc-service', name, action]),
  isUp: async name => (await run(['rc-service', name, 'status'])).code === 0,
  // rc-update fails for a runlevel that the service is not in.
  setBoot: async (name, on) => {
    if (on) return run(['rc-update', 'add', name]);
    const levels = levelsOf(name);
    return levels.length > 0 ? run(['rc-update', 'delete', name, ...levels]) : undefined;
  },
  all: async () => readNames('/etc/init.d').filter(name => !notServices.includes(name)),
  atBoot: async () => [...levelsByService().keys()],
};

type Levels = { [name: string]: string[] };

/**
 * The services that are there, with the runlevels that each is in.
 *
 * @example tsalt-ssh '*' service.get_all
 */
export const get_all = async (): Promise<Levels> =>
  Object.fromEntries((await init.all()).sort().map(name => [name, levelsOf(name)]));

/**
 * The services that start at boot, with the runlevels that each is in.
 *
 * @example tsalt-ssh '*' service.get_enabled
 */
export const get_enabled = async (): Promise<Levels> =>
  Object.fromEntries([...levelsByService()].sort(([one], [two]) => (one < two ? -1 : 1)));

export const get_disabled = getDisabled(init);
export const start = starting(init);
export const stop = stopping(init);
export const restart = restarting(init);
export const reload_ = reloading(init);
export const full_restart = fullyRestarting(init);
export const status = statusBy(init);

/**
 * Makes OpenRC forget what it knows of a service: it counts as stopped then.
 *
 * @param name the service
 * @example tsalt-ssh '*' service.zap nginx
 */
export const zap = async (name: string): Promise<boolean> => good(init.act(name, 'zap'));

type LevelOptions = { runlevels?: Plain; [other: string]: unknown };

/**
 * Makes a service start at boot.
 *
 * @param name the service
 * @param runlevels the runlevels it is to be in, and in no others; otherwise the current one is added
 * @example tsalt-ssh '*' service.enable nginx runlevels=boot
 */
export const enable = async (
  name: string,
  { runlevels = null }: LevelOptions = {},
): Promise<boolean> => {
  if (runlevels === null) return good(init.setBoot(name, true));
  const [wanted, have] = [toList(runlevels), levelsOf(name)];
  const gone = have.filter(level => !wanted.includes(level));
  const added = wanted.filter(level => !have.includes(level));
  if (gone.length > 0) await good(run(['rc-update', 'delete', name, ...gone.sort()]));
  if (added.length > 0) await good(run(['rc-update', 'add', name, ...added.sort()]));
  return true;
};

/**
 * Keeps a service from starting at boot.
 *
 * @param name the service
 * @param runlevels the runlevels to take it out of; otherwise all
 * @example tsalt-ssh '*' service.disable nginx runlevels=boot
 */
export const disable = async (
  name: string,
  { runlevels = null }: LevelOptions = {},
): Promise<boolean> => {
  if (runlevels === null) return good(init.setBoot(name, false));
  const wanted = toList(runlevels);
  const gone = levelsOf(name).filter(level => wanted.includes(level));
  return gone.length === 0 || good(run(['rc-update', 'delete', name, ...gone]));
};

/**
 * Whether a service starts at boot.
 *
 * @param name the service
 * @param runlevels whether it is in all of these runlevels
 * @example tsalt-ssh '*' service.enabled nginx runlevels=boot
 */
export const enabled = async (
  name: string,
  { runlevels = null }: LevelOptions = {},
): Promise<boolean> => {
  const have = levelsOf(name);
  return have.length > 0 && toList(runlevels).every(level => have.includes(level));
};

export const disabled = isDisabled(init);
export const available = isAvailable(init);
export const missing = isMissing(init);
