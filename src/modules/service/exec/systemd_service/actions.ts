/**
 * Services and other units, by systemd. Goes by the name `service`.
 *
 * @platform linux
 * @depends systemctl
 */
import { __context__, __grains__, CommandExecutionError } from '../../../api.ts';
import { type ActionOptions, actOn, cacheKey, isOffline, systemctl } from '../../systemd.ts';

export const __virtualname__ = 'service';

export const __virtual__ = (): string | [false, string] =>
  __grains__.init === 'systemd' || isOffline()
    ? __virtualname__
    : [false, 'systemd does not run this system.'];

export const __func_alias__ = { reload_: 'reload' };

/**
 * Starts a service.
 *
 * @param name the service or unit
 * @param no_block true: do not wait until it is up
 * @param unmask true: lift its mask first
 * @param unmask_runtime true: lift its mask of this boot first
 * @example tsalt-ssh '*' service.start nginx
 */
export const start = async (
  name: string,
  { no_block = false, unmask = false, unmask_runtime = false }: ActionOptions = {},
): Promise<boolean> => actOn('start', name, { no_block, unmask, unmask_runtime });

/**
 * Stops a service.
 *
 * @param name the service or unit
 * @param no_block true: do not wait until it is down
 * @example tsalt-ssh '*' service.stop nginx
 */
export const stop = async (
  name: string,
  { no_block = false }: { no_block?: boolean } = {},
): Promise<boolean> => actOn('stop', name, { no_block });

/**
 * Restarts a service, starting it when it is down.
 *
 * @param name the service or unit
 * @param no_block true: do not wait until it is up
 * @param unmask true: lift its mask first
 * @param unmask_runtime true: lift its mask of this boot first
 * @example tsalt-ssh '*' service.restart nginx
 */
export const restart = async (
  name: string,
  { no_block = false, unmask = false, unmask_runtime = false }: ActionOptions = {},
): Promise<boolean> => actOn('restart', name, { no_block, unmask, unmask_runtime });

/**
 * Makes a running service read its configuration again.
 *
 * @param name the service or unit
 * @param no_block true: do not wait until it is done
 * @param unmask true: lift its mask first
 * @param unmask_runtime true: lift its mask of this boot first
 * @example tsalt-ssh '*' service.reload nginx
 */
export const reload_ = async (
  name: string,
  { no_block = false, unmask = false, unmask_runtime = false }: ActionOptions = {},
): Promise<boolean> => actOn('reload', name, { no_block, unmask, unmask_runtime });

/**
 * Reloads a service that runs, or restarts it when it cannot reload.
 *
 * @param name the service or unit
 * @param no_block false: wait until it is done
 * @param unmask true: lift its mask first
 * @param unmask_runtime true: lift its mask of this boot first
 * @example tsalt-ssh '*' service.force_reload nginx
 */
export const force_reload = async (
  name: string,
  { no_block = true, unmask = false, unmask_runtime = false }: ActionOptions = {},
): Promise<boolean> => actOn('force-reload', name, { no_block, unmask, unmask_runtime });

/**
 * Makes systemd read all unit files again.
 *
 * @example tsalt-ssh '*' service.systemctl_reload
 */
export const systemctl_reload = async (): Promise<boolean> => {
  const { code, stderr } = await systemctl(['daemon-reload']);
  delete __context__[cacheKey];
  if (code !== 0)
    throw new CommandExecutionError(`Problem performing systemctl daemon-reload: ${stderr.trim()}`);
  return true;
};

/**
 * Whether systemd is installed but does not run (an image that is being built).
 *
 * @example tsalt-ssh '*' service.offline
 */
export const offline = async (): Promise<boolean> => isOffline();
