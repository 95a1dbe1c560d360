/**
 * Services by SysV init scripts. Goes by the name `service`.
 *
 * @platform linux
 * @depends service, update-rc.d or chkconfig
 */
import { existsSync } from 'node:fs';
import { __grains__, CommandExecutionError } from '../api.ts';
import { hasProcess } from '../lib/processes.ts';
import { namesIn } from '../lib/read-file.ts';
import { runCommand } from '../lib/run-command.ts';
import { which } from '../lib/which.ts';

export const __virtualname__ = 'service';

export const __virtual__ = (): string | [false, string] =>
  (__grains__.init === 'sysvinit' || __grains__.init === 'upstart') && existsSync('/etc/init.d')
    ? __virtualname__
    : [false, 'No SysV init runs this system.'];

export const __func_alias__ = { reload_: 'reload' };

const run = (argv: readonly [string, ...string[]]) =>
  runCommand(argv, { plainLocale: true, cwd: '/' });

const act = async (name: string, action: string): Promise<boolean> => {
  const { code, stdout, stderr } = which('service')
    ? await run(['service', name, action])
    : await run([`/etc/init.d/${name}`, action]);
  if (code !== 0) throw new CommandExecutionError(stderr.trim() || stdout.trim());
  return true;
};

const isUp = async (name: string): Promise<boolean> => {
  const { code } = which('service')
    ? await run(['service', name, 'status'])
    : await run([`/etc/init.d/${name}`, 'status']);
  return code === 0;
};

/** Debian registers scripts by update-rc.d, Red Hat by chkconfig. */
const changeBoot = async (name: string, on: boolean): Promise<boolean> => {
  const commands: [string, ...string[]][] = which('update-rc.d')
    ? [
        ['update-rc.d', name, 'defaults'],
        ['update-rc.d', name, on ? 'enable' : 'disable'],
      ]
    : [['chkconfig', name, on ? 'on' : 'off']];
  for (const command of commands) {
    const { code, stderr } = await run(command);
    if (code !== 0) throw new CommandExecutionError(stderr.trim());
  }
  return true;
};

/**
 * The services that are there.
 *
 * @example tsalt-ssh '*' service.get_all
 */
export const get_all = async (): Promise<string[]> =>
  namesIn('/etc/init.d').filter(
    name => !name.includes('.') && !['README', 'functions', 'skeleton', 'rc', 'rcS'].includes(name),
  );

/**
 * The services that start at boot: those with a start link in a runlevel from 2 to 5.
 *
 * @example tsalt-ssh '*' service.get_enabled
 */
export const get_enabled = async (): Promise<string[]> => [
  ...new Set(
    [2, 3, 4, 5, 'S'].flatMap(level =>
      [...namesIn(`/etc/rc${level}.d`), ...namesIn(`/etc/rc.d/rc${level}.d`)].flatMap(
        link => /^S\d\d(.+)$/.exec(link)?.[1] ?? [],
      ),
    ),
  ),
];

/**
 * The services that do not start at boot.
 *
 * @example tsalt-ssh '*' service.get_disabled
 */
export const get_disabled = async (): Promise<string[]> => {
  const on = await get_enabled();
  return (await get_all()).filter(name => !on.includes(name));
};

/**
 * Starts a service.
 *
 * @param name the service
 * @example tsalt-ssh '*' service.start nginx
 */
export const start = async (name: string): Promise<boolean> => act(name, 'start');

/**
 * Stops a service.
 *
 * @param name the service
 * @example tsalt-ssh '*' service.stop nginx
 */
export const stop = async (name: string): Promise<boolean> => act(name, 'stop');

/**
 * Restarts a service.
 *
 * @param name the service
 * @example tsalt-ssh '*' service.restart nginx
 */
export const restart = async (name: string): Promise<boolean> => act(name, 'restart');

/**
 * Makes a running service read its configuration again.
 *
 * @param name the service
 * @example tsalt-ssh '*' service.reload nginx
 */
export const reload_ = async (name: string): Promise<boolean> => act(name, 'reload');

/**
 * Whether a service runs.
 *
 * @param name the service
 * @param sig text by which its process is found instead
 * @example tsalt-ssh '*' service.status nginx
 */
export const status = async (
  name: string,
  options: { sig?: string | null; wait?: number } = {},
): Promise<boolean> => (options.sig ? hasProcess(options.sig) : isUp(name));

/**
 * Makes a service start at boot.
 *
 * @param name the service
 * @example tsalt-ssh '*' service.enable nginx
 */
export const enable = async (name: string): Promise<boolean> => changeBoot(name, true);

/**
 * Keeps a service from starting at boot.
 *
 * @param name the service
 * @example tsalt-ssh '*' service.disable nginx
 */
export const disable = async (name: string): Promise<boolean> => changeBoot(name, false);

/**
 * Whether a service starts at boot.
 *
 * @param name the service
 * @example tsalt-ssh '*' service.enabled nginx
 */
export const enabled = async (name: string): Promise<boolean> =>
  (await get_enabled()).includes(name);

/**
 * Whether a service does not start at boot.
 *
 * @param name the service
 * @example tsalt-ssh '*' service.disabled nginx
 */
export const disabled = async (name: string): Promise<boolean> => !(await enabled(name));

/**
 * Whether there is a service of that name.
 *
 * @param name the service
 * @example tsalt-ssh '*' service.available nginx
 */
export const available = async (name: string): Promise<boolean> => (await get_all()).includes(name);

/**
 * Whether there is no service of that name.
 *
 * @param name the service
 * @example tsalt-ssh '*' service.missing nginx
 */
export const missing = async (name: string): Promise<boolean> => !(await available(name));
