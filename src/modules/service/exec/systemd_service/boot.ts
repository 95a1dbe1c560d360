import { runCommand } from '../../../_shared/commands/run-command.ts';
import { CommandExecutionError } from '../../../api.ts';
import { type ActionOptions, actOn, systemctl, unitName, unitOf } from '../../systemd.ts';

/**
 * Makes a service start at boot.
 *
 * @param name the service or unit
 * @param unmask true: lift its mask first
 * @param unmask_runtime true: lift its mask of this boot first
 * @param no_block true: do not wait until it is done
 * @param root a folder with another system
 * @example tsalt-ssh '*' service.enable nginx
 */
export const enable = async (
  name: string,
  { no_block = false, unmask = false, unmask_runtime = false, root = null }: ActionOptions = {},
): Promise<boolean> => actOn('enable', name, { no_block, unmask, unmask_runtime, root });

/**
 * Keeps a service from starting at boot.
 *
 * @param name the service or unit
 * @param root a folder with another system
 * @example tsalt-ssh '*' service.disable nginx
 */
export const disable = async (
  name: string,
  { no_block = false, root = null }: ActionOptions = {},
): Promise<boolean> => actOn('disable', name, { no_block, root });

const enabledStates = ['enabled', 'enabled-runtime', 'static', 'alias', 'indirect'];

/**
 * Whether a service starts at boot, or needs no enabling.
 *
 * @param name the service or unit
 * @param root a folder with another system
 * @example tsalt-ssh '*' service.enabled nginx
 */
export const enabled = async (
  name: string,
  { root = null }: { root?: string | null } = {},
): Promise<boolean> => {
  if (root)
    return (
      (await systemctl(['--root', root, 'is-enabled', '--quiet', '--', unitName(name)])).code === 0
    );
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
 * @param root a folder with another system
 * @example tsalt-ssh '*' service.disabled nginx
 */
export const disabled = async (
  name: string,
  { root = null }: { root?: string | null } = {},
): Promise<boolean> => !(await enabled(name, { root }));

/**
 * Settings that systemd asks for at the first boot, written now (`systemd-firstboot`).
 *
 * @param locale the locale
 * @param locale_message the locale of messages
 * @param keymap the keyboard
 * @param timezone the time zone
 * @param hostname the name of the host
 * @param machine_id the machine's id
 * @param root a folder with another system
 * @example tsalt-ssh '*' service.firstboot keymap=jp locale=en_US.UTF-8 root=/srv/image
 */
export const firstboot = async ({
  locale = null,
  locale_message = null,
  keymap = null,
  timezone = null,
  hostname = null,
  machine_id = null,
  root = null,
}: {
  locale?: string | null;
  locale_message?: string | null;
  keymap?: string | null;
  timezone?: string | null;
  hostname?: string | null;
  machine_id?: string | null;
  root?: string | null;
} = {}): Promise<boolean> => {
  const settings = {
    locale,
    'locale-messages': locale_message,
    keymap,
    timezone,
    hostname,
    'machine-id': machine_id,
    root,
  };
  const words = Object.entries(settings).flatMap(([key, value]) =>
    value ? [`--${key}=${value}`] : [],
  );
  const { code, stderr } = await runCommand(['systemd-firstboot', ...words], {
    plainLocale: true,
    cwd: '/',
  });
  if (code !== 0) throw new CommandExecutionError(`systemd-firstboot error: ${stderr.trim()}`);
  return true;
};
