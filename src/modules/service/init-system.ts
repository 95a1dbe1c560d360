import { fnmatch } from '../../data/python/glob.ts';
import { hasProcess } from '../_shared/commands/processes.ts';
import type { CommandResult } from '../_shared/commands/run-command.ts';
import { CommandExecutionError } from '../api.ts';

/** The operations that differ between init systems; this file holds what they share. */
export type InitSystem = {
  /** Starts, stops, restarts or reloads a service. */
  readonly act: (name: string, action: Action) => Promise<Ended>;
  readonly isUp: (name: string) => Promise<boolean>;
  /** Makes a service start at boot, or keeps it from it. */
  readonly setBoot: (name: string, on: boolean) => Promise<Ended>;
  readonly all: () => Promise<string[]>;
  /** The services that start at boot. */
  readonly atBoot: () => Promise<string[]>;
};

export type Action = 'start' | 'stop' | 'restart' | 'reload' | 'force-reload' | 'zap';

/** How a command ended; nothing when there was nothing to run. */
type Ended = Pick<CommandResult, 'code' | 'stdout' | 'stderr'> | undefined;

/** Returns true, or throws a `CommandExecutionError` with the output of a failed command. */
export const good = async (ended: Promise<Ended>): Promise<boolean> => {
  const { code, stdout, stderr } = (await ended) ?? { code: 0, stdout: '', stderr: '' };
  if (code !== 0) throw new CommandExecutionError(stderr.trim() || stdout.trim());
  return true;
};

/**
 * The services that are there.
 *
 * @example tsalt-ssh '*' service.get_all
 */
export const getAll = (init: InitSystem) => async (): Promise<string[]> =>
  (await init.all()).sort();

/**
 * The services that start at boot.
 *
 * @example tsalt-ssh '*' service.get_enabled
 */
export const getEnabled = (init: InitSystem) => async (): Promise<string[]> =>
  (await init.atBoot()).sort();

/**
 * The services that do not start at boot.
 *
 * @example tsalt-ssh '*' service.get_disabled
 */
export const getDisabled = (init: InitSystem) => async (): Promise<string[]> => {
  const on = await init.atBoot();
  return (await init.all()).filter(name => !on.includes(name)).sort();
};

/**
 * Starts a service.
 *
 * @param name the service
 * @example tsalt-ssh '*' service.start nginx
 */
export const starting =
  (init: InitSystem) =>
  async (name: string): Promise<boolean> =>
    good(init.act(name, 'start'));

/**
 * Stops a service.
 *
 * @param name the service
 * @example tsalt-ssh '*' service.stop nginx
 */
export const stopping =
  (init: InitSystem) =>
  async (name: string): Promise<boolean> =>
    good(init.act(name, 'stop'));

/**
 * Restarts a service.
 *
 * @param name the service
 * @example tsalt-ssh '*' service.restart nginx
 */
export const restarting =
  (init: InitSystem) =>
  async (name: string): Promise<boolean> =>
    good(init.act(name, 'restart'));

/**
 * Makes a running service read its configuration again.
 *
 * @param name the service
 * @example tsalt-ssh '*' service.reload nginx
 */
export const reloading =
  (init: InitSystem) =>
  async (name: string): Promise<boolean> =>
    good(init.act(name, 'reload'));

/**
 * Makes a running service read its configuration again, or restarts it when it cannot.
 *
 * @param name the service
 * @example tsalt-ssh '*' service.force_reload nginx
 */
export const forciblyReloading =
  (init: InitSystem) =>
  async (name: string): Promise<boolean> =>
    good(init.act(name, 'force-reload'));

/**
 * Stops a service and starts it again.
 *
 * @param name the service
 * @example tsalt-ssh '*' service.full_restart nginx
 */
export const fullyRestarting =
  (init: InitSystem) =>
  async (name: string): Promise<boolean> => {
    await good(init.act(name, 'stop'));
    return good(init.act(name, 'start'));
  };

/**
 * Whether services run: true or false, or by name for a glob.
 *
 * @param name the service, or a glob
 * @param sig text by which its process is found instead
 * @param wait taken for systemd, without effect here
 * @example tsalt-ssh '*' service.status nginx
 */
export const statusBy =
  (init: InitSystem) =>
  async (
    name: string,
    options: { sig?: string | null; wait?: number } = {},
  ): Promise<boolean | { [name: string]: boolean }> => {
    if (options.sig) return hasProcess(options.sig);
    if (!/[*?]|\[.+\]/.test(name)) return init.isUp(name);
    const told: { [name: string]: boolean } = {};
    for (const one of (await init.all()).sort())
      if (fnmatch(one, name)) told[one] = await init.isUp(one);
    return told;
  };

/**
 * Makes a service start at boot.
 *
 * @param name the service
 * @example tsalt-ssh '*' service.enable nginx
 */
export const enabling =
  (init: InitSystem) =>
  async (name: string): Promise<boolean> =>
    good(init.setBoot(name, true));

/**
 * Keeps a service from starting at boot.
 *
 * @param name the service
 * @example tsalt-ssh '*' service.disable nginx
 */
export const disabling =
  (init: InitSystem) =>
  async (name: string): Promise<boolean> =>
    good(init.setBoot(name, false));

/**
 * Whether a service starts at boot.
 *
 * @param name the service
 * @example tsalt-ssh '*' service.enabled nginx
 */
export const isEnabled =
  (init: InitSystem) =>
  async (name: string): Promise<boolean> =>
    (await init.atBoot()).includes(name);

/**
 * Whether a service does not start at boot.
 *
 * @param name the service
 * @example tsalt-ssh '*' service.disabled nginx
 */
export const isDisabled =
  (init: InitSystem) =>
  async (name: string): Promise<boolean> =>
    !(await init.atBoot()).includes(name);

/**
 * Whether there is a service of that name.
 *
 * @param name the service
 * @example tsalt-ssh '*' service.available nginx
 */
export const isAvailable =
  (init: InitSystem) =>
  async (name: string): Promise<boolean> =>
    (await init.all()).includes(name);

/**
 * Returns whether a service does not exist.
 *
 * @param name the service
 * @example tsalt-ssh '*' service.missing nginx
 */
export const isMissing =
  (init: InitSystem) =>
  async (name: string): Promise<boolean> =>
    !(await init.all()).includes(name);
