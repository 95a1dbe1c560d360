/**
 * Services by SysV init scripts. Goes by the name `service`.
 *
 * @platform linux
 * @depends service, update-rc.d or chkconfig
 */

import { runCommand } from '../../_shared/commands/run-command.ts';
import { which } from '../../_shared/commands/which.ts';
import { readNames } from '../../_shared/files/read-file.ts';
import { existsSync } from '../../_shared/safe-fs/fs.ts';
import { __grains__ } from '../../api.ts';
import {
  disabling,
  enabling,
  forciblyReloading,
  getAll,
  getDisabled,
  getEnabled,
  good,
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
} from '../init-system.ts';

export const __virtualname__ = 'service';

/** They have modules of their own; in a container anything else may come before the scripts. */
const others = ['systemd', 'openrc', 'runit', 'launchd'];

export const __virtual__ = (): string | [false, string] =>
  !others.includes(String(__grains__.init)) && existsSync('/etc/init.d')
    ? __virtualname__
    : [false, 'No SysV init runs this system.'];

export const __func_alias__ = { reload_: 'reload', delete_: 'delete' };

const run = (argv: readonly [string, ...string[]]) =>
  runCommand(argv, { plainLocale: true, cwd: '/' });

const script = (name: string, action: string) =>
  run(which('service') ? ['service', name, action] : [`/etc/init.d/${name}`, action]);

const notServices = ['README', 'functions', 'skeleton', 'rc', 'rcS'];

const init: InitSystem = {
  act: script,
  isUp: async name => (await script(name, 'status')).code === 0,
  // Debian registers scripts by update-rc.d, Red Hat by chkconfig.
  setBoot: async (name, on) => {
    if (!which('update-rc.d')) return run(['chkconfig', name, on ? 'on' : 'off']);
    const registered = await run(['update-rc.d', name, 'defaults']);
    return registered.code === 0
      ? run(['update-rc.d', name, on ? 'enable' : 'disable'])
      : registered;
  },
  all: async () =>
    readNames('/etc/init.d').filter(name => !name.includes('.') && !notServices.includes(name)),
  // Those with a start link in a runlevel from 2 to 5.
  atBoot: async () => [
    ...new Set(
      [2, 3, 4, 5, 'S'].flatMap(level =>
        [...readNames(`/etc/rc${level}.d`), ...readNames(`/etc/rc.d/rc${level}.d`)].flatMap(
          link => /^S\d\d(.+)$/.exec(link)?.[1] ?? [],
        ),
      ),
    ),
  ],
};

export const get_all = getAll(init);
export const get_enabled = getEnabled(init);
export const get_disabled = getDisabled(init);
export const start = starting(init);
export const stop = stopping(init);
export const restart = restarting(init);
export const reload_ = reloading(init);
export const force_reload = forciblyReloading(init);
export const status = statusBy(init);
export const enable = enabling(init);
export const disable = disabling(init);
export const enabled = isEnabled(init);
export const disabled = isDisabled(init);
export const available = isAvailable(init);
export const missing = isMissing(init);

/**
 * Takes a service out of all runlevels for good: its script stays, but nothing starts it.
 *
 * @param name the service
 * @example tsalt-ssh '*' service.delete nginx
 */
export const delete_ = async (name: string): Promise<boolean> =>
  good(
    run(
      which('update-rc.d') ? ['update-rc.d', '-f', name, 'remove'] : ['chkconfig', '--del', name],
    ),
  );
