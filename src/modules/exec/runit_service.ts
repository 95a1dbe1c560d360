/**
 * Services by runit. Goes by the name `service`.
 *
 * @platform linux
 * @depends sv
 */
import { existsSync } from 'node:fs';
import { rm, symlink } from 'node:fs/promises';
import { __grains__, CommandExecutionError } from '../api.ts';
import { hasProcess } from '../lib/processes.ts';
import { namesIn } from '../lib/read-file.ts';
import { runCommand } from '../lib/run-command.ts';
import { which } from '../lib/which.ts';

export const __virtualname__ = 'service';

export const __virtual__ = (): string | [false, string] =>
  __grains__.init === 'runit' && which('sv')
    ? __virtualname__
    : [false, 'runit does not run this system.'];

export const __func_alias__ = { reload_: 'reload' };

/** Where runit looks for services that run, and where packages put those that could. */
const activeFolder = (): string =>
  ['/var/service', '/etc/service', '/service'].find(existsSync) ?? '/etc/service';
const offered = ['/etc/sv', '/etc/runit/sv'];

const sv = (...args: string[]) =>
  runCommand(['sv', ...args], { plainLocale: true, cwd: '/', env: { SVDIR: activeFolder() } });

const act = async (name: string, action: string): Promise<boolean> => {
  const { code, stdout, stderr } = await sv(action, name);
  if (code !== 0) throw new CommandExecutionError(stderr.trim() || stdout.trim());
  return true;
};

const isUp = async (name: string): Promise<boolean> =>
  (await sv('status', name)).stdout.startsWith('run:');

const changeBoot = async (name: string, on: boolean): Promise<boolean> => {
  const link = `${activeFolder()}/${name}`;
  if (!on) {
    await rm(link, { force: true });
    return true;
  }
  const source = offered.map(folder => `${folder}/${name}`).find(existsSync);
  if (!source)
    throw new CommandExecutionError(`The service ${name} is not in ${offered.join(', ')}`);
  if (!existsSync(link)) await symlink(source, link);
  return true;
};

/**
 * The services that are there.
 *
 * @example tsalt-ssh '*' service.get_all
 */
export const get_all = async (): Promise<string[]> => [
  ...new Set([...offered, activeFolder()].flatMap(namesIn)),
];

/**
 * The services that start at boot: those with a link in the folder that runit watches.
 *
 * @example tsalt-ssh '*' service.get_enabled
 */
export const get_enabled = async (): Promise<string[]> =>
  namesIn(activeFolder()).filter(name => !existsSync(`${activeFolder()}/${name}/down`));

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
