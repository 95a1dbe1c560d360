/**
 * Services of macOS, by launchd. Goes by the name `service`.
 *
 * @platform macOS
 * @depends launchctl
 */
import { __grains__, CommandExecutionError } from '../api.ts';
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
} from '../lib/init-system.ts';
import { namesIn } from '../lib/read-file.ts';
import { type CommandResult, runCommand } from '../lib/run-command.ts';

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

const steps = (name: string, action: Action): string[][] => {
  const target = `system/${name}`;
  const commands: Record<Action, () => string[][]> = {
    start: () => [
      ['bootstrap', 'system', plistOf(name)],
      ['kickstart', target],
    ],
    stop: () => [['bootout', target]],
    restart: () => [['kickstart', '-k', target]],
    reload: () => [['kill', 'HUP', target]],
  };
  return commands[action]();
};

const init: InitSystem = {
  // What is loaded already cannot be bootstrapped again: the last step tells how it went.
  act: async (name, action) => {
    let last: CommandResult | undefined;
    for (const step of steps(name, action)) last = await launchctl(...step);
    return last;
  },
  isUp: async name => /^\s*pid = \d+/m.test((await launchctl('print', `system/${name}`)).stdout),
  setBoot: (name, on) => launchctl(on ? 'enable' : 'disable', `system/${name}`),
  all: async () => [
    ...new Set(
      folders.flatMap(folder =>
        namesIn(folder).flatMap(file => (file.endsWith('.plist') ? [file.slice(0, -6)] : [])),
      ),
    ),
  ],
  // All that are not switched off.
  atBoot: async () => {
    const off = _parseDisabled((await launchctl('print-disabled', 'system')).stdout);
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
