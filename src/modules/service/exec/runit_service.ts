/**
 * Services by runit. Goes by the name `service`.
 *
 * @platform linux
 * @depends sv
 */

import { basename } from 'node:path';
import { fnmatch } from '../../../data/python/glob.ts';
import { runCommand } from '../../_shared/commands/run-command.ts';
import { which } from '../../_shared/commands/which.ts';
import { isExecutable } from '../../_shared/files/file-paths.ts';
import { readNames } from '../../_shared/files/read-file.ts';
import { existsSync, lstatSync, readlinkSync } from '../../_shared/safe-fs/fs.ts';
import { rm, symlink, writeFile } from '../../_shared/safe-fs/promises.ts';
import { __context__, __grains__, CommandExecutionError } from '../../api.ts';
import {
  disabling,
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
} from '../init-system.ts';

export const __virtualname__ = 'service';

export const __virtual__ = (): string | [false, string] =>
  __grains__.init === 'runit' && which('sv')
    ? __virtualname__
    : [false, 'runit does not run this system.'];

export const __func_alias__ = { reload_: 'reload' };

/** Where runit looks for services that run, and where packages put those that could. */
const activeFolder = (): string =>
  ['/var/service', '/etc/service', '/service'].find(existsSync) ?? '/etc/service';
const folders = ['/etc/sv', '/etc/runit/sv'];
const addedKey = 'runit.svc_avail_path';
const offered = (): string[] => [
  ...new Set([...folders, ...((__context__[addedKey] as string[] | undefined) ?? [])]),
];

const sourceOf = (name: string): string | undefined =>
  offered()
    .map(folder => `${folder}/${name}`)
    .find(existsSync);

const sv = (...args: string[]) =>
  runCommand(['sv', ...args], { plainLocale: true, cwd: '/', env: { SVDIR: activeFolder() } });

/** How long runit may take to notice a new link: it looks every five seconds. */
const scanTime = 7000;

const until = async (isSo: () => boolean, milliseconds: number): Promise<void> => {
  const end = Date.now() + milliseconds;
  while (!isSo() && Date.now() < end) await new Promise(resolve => setTimeout(resolve, 100));
};

/** Has runit look after a service, which starts at once only where that is asked for. */
const link = async (name: string, starting_: boolean): Promise<void> => {
  const place = `${activeFolder()}/${name}`;
  const source = sourceOf(name);
  if (!source)
    throw new CommandExecutionError(`The service ${name} is not in ${offered().join(', ')}`);
  const down = `${source}/down`;
  if (existsSync(place)) return rm(down, { force: true });
  const isHeld = existsSync(down);
  if (!starting_ && !isHeld) await writeFile(down, '');
  await symlink(source, place);
  await until(() => existsSync(`${place}/supervise/ok`), scanTime);
  if (!starting_ || isHeld) await rm(down, { force: true });
};

const init: InitSystem = {
  act: (name, action) => sv(action, name),
  isUp: async name => (await sv('status', name)).stdout.startsWith('run:'),
  setBoot: async (name, on) => {
    if (on) await link(name, false);
    else await rm(`${activeFolder()}/${name}`, { force: true });
    return undefined;
  },
  all: async () => [...new Set([...offered(), activeFolder()].flatMap(readNames))],
  // Those with a link in the folder that runit watches.
  atBoot: async () =>
    readNames(activeFolder()).filter(name => !existsSync(`${activeFolder()}/${name}/down`)),
};

export const get_all = getAll(init);
export const get_enabled = getEnabled(init);
export const get_disabled = getDisabled(init);
export const start = starting(init);
export const stop = stopping(init);
export const restart = restarting(init);
export const full_restart = fullyRestarting(init);
export const reload_ = reloading(init);
export const status = statusBy(init);

/**
 * Makes a service start at boot.
 *
 * @param name the service
 * @param start true: start it now too
 * @example tsalt-ssh '*' service.enable nginx start=True
 */
export const enable = async (
  name: string,
  { start: starting_ = false }: { start?: boolean; [other: string]: unknown } = {},
): Promise<boolean> => {
  await link(name, starting_);
  return true;
};

export const disable = disabling(init);
export const enabled = isEnabled(init);
export const disabled = isDisabled(init);
export const available = isAvailable(init);
export const missing = isMissing(init);

/**
 * Whether runit starts a service by itself: no file `down` keeps it from that.
 *
 * @param name the service
 * @example tsalt-ssh '*' service.status_autostart nginx
 */
export const status_autostart = async (name: string): Promise<boolean> =>
  !existsSync(`${activeFolder()}/${name}/down`);

/**
 * The services that runit looks after and cannot run, for want of a program `run`.
 *
 * @param name a glob
 * @example tsalt-ssh '*' service.get_svc_broken_path
 */
export const get_svc_broken_path = async (name = '*'): Promise<string[]> =>
  readNames(activeFolder())
    .filter(one => fnmatch(one, name) && !isExecutable(`${activeFolder()}/${one}/run`))
    .map(one => `${activeFolder()}/${one}`)
    .sort();

/**
 * The folders of services that could run.
 *
 * @example tsalt-ssh '*' service.get_svc_avail_path
 */
export const get_svc_avail_path = async (): Promise<string[]> => offered().filter(existsSync);

/**
 * Adds a folder of services that could run, for this run of states.
 *
 * @param path the folder
 * @returns false when it is not there
 * @example tsalt-ssh '*' service.add_svc_avail_path /srv/services
 */
export const add_svc_avail_path = async (path: string): Promise<boolean> => {
  if (!existsSync(path)) return false;
  const added = (__context__[addedKey] as string[] | undefined) ?? [];
  __context__[addedKey] = [...new Set([...added, path])];
  return true;
};

/**
 * The services that are there under further names, with the links.
 *
 * @example tsalt-ssh '*' service.get_svc_alias
 */
export const get_svc_alias = async (): Promise<{ [service: string]: string[] }> => {
  const found: { [service: string]: string[] } = {};
  for (const folder of offered())
    for (const one of readNames(folder)) {
      const path = `${folder}/${one}`;
      if (!lstatSync(path).isSymbolicLink()) continue;
      const service = basename(readlinkSync(path));
      found[service] = [...(found[service] ?? []), path];
    }
  return found;
};

/**
 * All about a service: `available`, `enabled`, `disabled`, `running`, `autostart`, `service_path` and
 * `command_path`.
 *
 * @param name the service
 * @example tsalt-ssh '*' service.show nginx
 */
export const show = async (name: string): Promise<{ [field: string]: boolean | string | null }> => {
  const isThere = await available(name);
  const at = `${activeFolder()}/${name}`;
  const path = isThere ? (sourceOf(name) ?? at) : null;
  const isOn = isThere && (await enabled(name));
  return {
    available: isThere,
    enabled: isOn,
    disabled: !isOn,
    running: isThere && (await init.isUp(name)),
    autostart: isThere && (await status_autostart(name)),
    service_path: path,
    command_path: path && `${path}/run`,
  };
};

/**
 * Stops a service and has runit look after it no more.
 *
 * @param name the service
 * @returns false when it was not looked after
 * @example tsalt-ssh '*' service.remove nginx
 */
export const remove = async (name: string): Promise<boolean> => {
  const place = `${activeFolder()}/${name}`;
  if (!existsSync(place) || !lstatSync(place).isSymbolicLink()) return false;
  await stop(name);
  await rm(place, { force: true });
  return true;
};
