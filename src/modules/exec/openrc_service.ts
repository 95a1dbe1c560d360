/**
 * Services by OpenRC. Goes by the name `service`.
 *
 * @platform Alpine, Gentoo
 * @depends rc-service, rc-update
 */
import { __grains__, CommandExecutionError } from '../api.ts';
import { hasProcess } from '../lib/processes.ts';
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

const act = async (name: string, action: string): Promise<boolean> => {
  const { code, stdout, stderr } = await run(['rc-service', name, action]);
  if (code !== 0) throw new CommandExecutionError(stderr.trim() || stdout.trim());
  return true;
};

const isUp = async (name: string): Promise<boolean> =>
  (await run(['rc-service', name, 'status'])).code === 0;

const changeBoot = async (name: string, on: boolean): Promise<boolean> => {
  const { code, stderr } = await run(['rc-update', on ? 'add' : 'delete', name]);
  if (code !== 0) throw new CommandExecutionError(stderr.trim());
  return true;
};

/**
 * The services that are there.
 *
 * @example tsalt-ssh '*' service.get_all
 */
export const get_all = async (): Promise<string[]> =>
  namesIn('/etc/init.d').filter(name => !name.endsWith('.sh') && name !== 'functions.sh');

/**
 * The services that start at boot: those in any runlevel.
 *
 * @example tsalt-ssh '*' service.get_enabled
 */
export const get_enabled = async (): Promise<string[]> => [
  ...new Set(namesIn('/etc/runlevels').flatMap(level => namesIn(`/etc/runlevels/${level}`))),
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
 * Stops a service and starts it again.
 *
 * @param name the service
 * @example tsalt-ssh '*' service.full_restart nginx
 */
export const full_restart = async (name: string): Promise<boolean> => {
  await act(name, 'stop');
  return act(name, 'start');
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
