import { type ActionOptions, actOn, systemctl, unitName, unitOf } from '../../lib/systemd.ts';

/**
 * Makes a service start at boot.
 *
 * @param name the service or unit
 * @param unmask true: lift its mask first
 * @param unmask_runtime true: lift its mask of this boot first
 * @example tsalt-ssh '*' service.enable nginx
 */
export const enable = async (
  name: string,
  { no_block = false, unmask = false, unmask_runtime = false }: ActionOptions = {},
): Promise<boolean> => actOn('enable', name, { no_block, unmask, unmask_runtime });

/**
 * Keeps a service from starting at boot.
 *
 * @param name the service or unit
 * @example tsalt-ssh '*' service.disable nginx
 */
export const disable = async (
  name: string,
  { no_block = false }: ActionOptions = {},
): Promise<boolean> => actOn('disable', name, { no_block });

const enabledStates = ['enabled', 'enabled-runtime', 'static', 'alias', 'indirect'];

/**
 * Whether a service starts at boot, or needs no enabling.
 *
 * @param name the service or unit
 * @example tsalt-ssh '*' service.enabled nginx
 */
export const enabled = async (name: string): Promise<boolean> => {
  const { file } = await unitOf(name);
  if (enabledStates.includes(file)) return true;
  if (file !== '' && file !== 'generated') return false;
  // SysV scripts are known to systemd-sysv-install only; `is-enabled` asks it.
  return (await systemctl(['is-enabled', '--quiet', '--', unitName(name)])).code === 0;
};

/**
 * Whether a service does not start at boot.
 *
 * @param name the service or unit
 * @example tsalt-ssh '*' service.disabled nginx
 */
export const disabled = async (name: string): Promise<boolean> => !(await enabled(name));
