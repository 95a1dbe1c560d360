/**
 * Services by runit. Goes by the name `service`.
 *
 * @platform linux
 * @depends sv
 */
import { existsSync } from 'node:fs';
import { rm, symlink } from 'node:fs/promises';
import { __grains__, CommandExecutionError } from '../api.ts';
import {
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

/** How long runit may take to notice a new link: it looks every five seconds. */
const scanTime = 7000;

const until = async (isSo: () => boolean, milliseconds: number): Promise<void> => {
  const end = Date.now() + milliseconds;
  while (!isSo() && Date.now() < end) await new Promise(resolve => setTimeout(resolve, 100));
};

const init: InitSystem = {
  act: (name, action) => sv(action, name),
  isUp: async name => (await sv('status', name)).stdout.startsWith('run:'),
  setBoot: async (name, on) => {
    const link = `${activeFolder()}/${name}`;
    if (!on) return void (await rm(link, { force: true }));
    const source = offered.map(folder => `${folder}/${name}`).find(existsSync);
    if (!source)
      throw new CommandExecutionError(`The service ${name} is not in ${offered.join(', ')}`);
    if (existsSync(link)) return;
    await symlink(source, link);
    await until(() => existsSync(`${link}/supervise/ok`), scanTime);
  },
  all: async () => [...new Set([...offered, activeFolder()].flatMap(namesIn))],
  // Those with a link in the folder that runit watches.
  atBoot: async () =>
    namesIn(activeFolder()).filter(name => !existsSync(`${activeFolder()}/${name}/down`)),
};

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
