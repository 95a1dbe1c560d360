/**
 * Services of macOS, by launchd. Goes by the name `service`.
 *
 * @platform macOS
 * @depends launchctl
 */
import { __grains__, CommandExecutionError } from '../api.ts';
import { hasProcess } from '../lib/processes.ts';
import { namesIn } from '../lib/read-file.ts';
import { runCommand } from '../lib/run-command.ts';

export const __virtualname__ = 'service';

export const __virtual__ = (): string | [false, string] =>
  __grains__.kernel === 'Darwin' ? __virtualname__ : [false, 'launchd does not run this system.'];

export const __func_alias__ = { reload_: 'reload' };

/** Folders of launchd's property lists: a service is called by its file's name. */
const folders = [
  '/Library/LaunchDaemons',
  '/Library/LaunchAgents',
  '/System/Library/LaunchDaemons',
];

const launchctl = (...args: string[]) =>
  runCommand(['launchctl', ...args], { plainLocale: true, cwd: '/' });

const plistOf = (name: string): string => {
  const folder = folders.find(one => namesIn(one).includes(`${name}.plist`));
  if (!folder) throw new CommandExecutionError(`Service not found: ${name}`);
  return `${folder}/${name}.plist`;
};

const act = async (name: string, action: string): Promise<boolean> => {
  const target = `system/${name}`;
  const commands: Record<string, string[][]> = {
    start: [
      ['bootstrap', 'system', plistOf(name)],
      ['kickstart', target],
    ],
    stop: [['bootout', target]],
    restart: [['kickstart', '-k', target]],
    reload: [['kill', 'HUP', target]],
  };
  const steps = commands[action] ?? [];
  let result = { code: 0, stderr: '' };
  for (const step of steps) result = await launchctl(...step);
  if (result.code !== 0) throw new CommandExecutionError(result.stderr.trim());
  return true;
};

const isUp = async (name: string): Promise<boolean> =>
  /^\s*pid = \d+/m.test((await launchctl('print', `system/${name}`)).stdout);

const changeBoot = async (name: string, on: boolean): Promise<boolean> => {
  const { code, stderr } = await launchctl(on ? 'enable' : 'disable', `system/${name}`);
  if (code !== 0) throw new CommandExecutionError(stderr.trim());
  return true;
};

/**
 * The services that are there.
 *
 * @example tsalt-ssh '*' service.get_all
 */
export const get_all = async (): Promise<string[]> =>
  [
    ...new Set(
      folders.flatMap(folder =>
        namesIn(folder).flatMap(file => (file.endsWith('.plist') ? [file.slice(0, -6)] : [])),
      ),
    ),
  ].sort();

/**
 * The services that start at boot: all that are not switched off.
 *
 * @example tsalt-ssh '*' service.get_enabled
 */
export const get_enabled = async (): Promise<string[]> => {
  const off = _parseDisabled((await launchctl('print-disabled', 'system')).stdout);
  return (await get_all()).filter(name => !off.includes(name));
};

/** `"com.example.tool" => disabled` (`true` in older systems). */
export const _parseDisabled = (text: string): string[] =>
  [...text.matchAll(/"([^"]+)"\s*=>\s*(disabled|true)/g)].map(match => match[1] ?? '');

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
