/**
 * Services of macOS, by launchd. Goes by the name `service`.
 *
 * @platform macOS
 * @depends launchctl
 */

import { type CommandResult, runCommand } from '../../_shared/commands/run-command.ts';
import { readNames } from '../../_shared/files/read-file.ts';
import { statSync } from '../../_shared/safe-fs/fs.ts';
import { __grains__, CommandExecutionError, type Plain } from '../../api.ts';
import {
  type Action,
  disabling,
  enabling,
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
} from '../init-system.ts';

export const __virtualname__ = 'service';

export const __virtual__ = (): string | [false, string] =>
  __grains__.kernel === 'Darwin' ? __virtualname__ : [false, 'launchd does not run this system.'];

export const __func_alias__ = { reload_: 'reload', list_: 'list' };

/** Folders of launchd's property lists: a service is called by its file's name. */
const folders = [
  '/Library/LaunchDaemons',
  '/Library/LaunchAgents',
  '/System/Library/LaunchDaemons',
];

const run = (...args: string[]) =>
  runCommand(['launchctl', ...args], { plainLocale: true, cwd: '/' });

const plistOf = (name: string): string => {
  const folder = folders.find(one => readNames(one).includes(`${name}.plist`));
  if (!folder) throw new CommandExecutionError(`Service not found: ${name}`);
  return `${folder}/${name}.plist`;
};

/** Agents belong to who sits at the console, daemons to the system. */
const domainOf = (name: string): string => {
  if (!plistOf(name).includes('LaunchAgents')) return 'system';
  return `gui/${statSync('/dev/console', { throwIfNoEntry: false })?.uid ?? 0}`;
};

const steps = (name: string, action: Action): string[][] => {
  const domain = domainOf(name);
  const target = `${domain}/${name}`;
  const commands: { [action: string]: () => string[][] } = {
    start: () => [
      ['bootstrap', domain, plistOf(name)],
      ['kickstart', target],
    ],
    stop: () => [['bootout', target]],
    restart: () => [['kickstart', '-k', target]],
    reload: () => [['kill', 'HUP', target]],
  };
  return commands[action]?.() ?? [];
};

/** The launchd target of a service. A missing service is taken for a daemon. */
const targetOf = (name: string): string => {
  const isAgent = readNames('/Library/LaunchAgents').includes(`${name}.plist`);
  return isAgent ? `${domainOf(name)}/${name}` : `system/${name}`;
};

const init: InitSystem = {
  // A loaded service cannot be bootstrapped again, so only the last step's result counts.
  act: async (name, action) => {
    let last: CommandResult | undefined;
    for (const step of steps(name, action)) last = await run(...step);
    return last;
  },
  isUp: async name => /^\s*pid = \d+/m.test((await run('print', targetOf(name))).stdout),
  setBoot: (name, on) => run(on ? 'enable' : 'disable', `${domainOf(name)}/${name}`),
  all: async () => [
    ...new Set(
      folders.flatMap(folder =>
        readNames(folder).flatMap(file => (file.endsWith('.plist') ? [file.slice(0, -6)] : [])),
      ),
    ),
  ],
  // All that are not switched off.
  atBoot: async () => {
    const off = _parseDisabled((await run('print-disabled', 'system')).stdout);
    return (await init.all()).filter(name => !off.includes(name));
  },
};

/** `"com.example.tool" => disabled` (`true` in older systems). */
export const _parseDisabled = (text: string): string[] =>
  [...text.matchAll(/"([^"]+)"\s*=>\s*(disabled|true)/g)].map(match => match[1] ?? '');

export const get_all = getAll(init);
export const get_enabled = getEnabled(init);
export const get_disabled = getDisabled(init);
export const start = starting(init);
export const stop = stopping(init);
export const restart = restarting(init);
export const reload_ = reloading(init);
export const status = statusBy(init);
export const enable = enabling(init);
export const disable = disabling(init);
export const enabled = isEnabled(init);
export const disabled = isDisabled(init);
export const available = isAvailable(init);
export const missing = isMissing(init);

/**
 * Returns launchd's entry of a service, or of all that are loaded.
 *
 * @param name the service
 * @example tsalt-ssh '*' service.list com.example.tool
 */
export const list_ = async (name: string | null = null): Promise<string> => {
  const { code, stdout, stderr } = await run('list', ...(name === null ? [] : [name]));
  if (code !== 0)
    throw new CommandExecutionError(
      `Failed to list service${name === null ? 's' : ` ${name}`}: ${stderr.trim() || stdout.trim()}`,
    );
  return stdout.trimEnd();
};

/**
 * Whether launchd has loaded a service.
 *
 * @param name the service
 * @example tsalt-ssh '*' service.loaded com.example.tool
 */
export const loaded = async (name: string): Promise<boolean> =>
  (await run('list', name)).code === 0;

/**
 * Where a service is written down.
 *
 * @param name the service
 * @returns `file_path`, `file_name` and the contents of its property list as `plist`
 * @example tsalt-ssh '*' service.show com.example.tool
 */
export const show = async (
  name: string,
): Promise<{ file_path: string; file_name: string; plist: Plain }> => {
  const file_path = plistOf(name);
  const argv: [string, ...string[]] = ['plutil', '-convert', 'json', '-o', '-', '--', file_path];
  const { code, stdout, stderr } = await runCommand(argv, { plainLocale: true, cwd: '/' });
  if (code !== 0)
    throw new CommandExecutionError(`plutil could not read ${file_path}: ${stderr.trim()}`);
  return { file_path, file_name: `${name}.plist`, plist: JSON.parse(stdout) as Plain };
};

/**
 * Runs a command of launchctl and returns whether it succeeded.
 *
 * @param sub_cmd the command, such as `bootout`
 * @param args its arguments
 * @param return_stdout true: return its output
 * @example tsalt-ssh '*' service.launchctl kickstart system/com.example.tool
 */
export const launchctl = async (
  sub_cmd: string,
  { return_stdout = false }: { return_stdout?: boolean },
  ...args: string[]
): Promise<boolean | string> => {
  const { code, stdout, stderr } = await run(sub_cmd, ...args);
  if (code !== 0)
    throw new CommandExecutionError(
      `Failed to ${sub_cmd} service: ${stderr.trim() || stdout.trim()}`,
    );
  return return_stdout ? stdout : true;
};
