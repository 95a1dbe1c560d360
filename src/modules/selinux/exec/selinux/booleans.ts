import { runPlain, semanageLines } from '../../../_shared/files/selinux-run.ts';
import { plainStr } from '../../../_shared/text/python-text.ts';
import type { PlainDict } from '../../../api.ts';

type Boolean_ = { State: string; Default: string; Description: string };

/**
 * All booleans: their state now, at boot, and what they are for.
 *
 * @example tsalt-ssh '*' selinux.list_sebool
 */
export const list_sebool = async (): Promise<{ [name: string]: Boolean_ }> =>
  _parseBooleans(await semanageLines('boolean'));

/** Lines of `name (off , on) description`. */
export const _parseBooleans = (lines: readonly string[]): { [name: string]: Boolean_ } =>
  Object.fromEntries(
    lines.flatMap(line => {
      const match = /^(\S+)\s+\((\w+)\s*,\s*(\w+)\)\s*(.*)$/.exec(line);
      if (!match) return [];
      const [, name = '', State = '', Default = '', Description = ''] = match;
      return [[name, { State, Default, Description }]];
    }),
  );

/**
 * Returns a boolean; an empty dict when it does not exist.
 *
 * @param boolean its name
 * @example tsalt-ssh '*' selinux.getsebool virt_use_usb
 */
export const getsebool = async (boolean: string): Promise<Partial<Boolean_>> =>
  (await list_sebool())[boolean] ?? {};

/**
 * Sets a boolean.
 *
 * @param boolean its name
 * @param value `on` or `off`
 * @param persist true: at boot too
 * @example tsalt-ssh '*' selinux.setsebool virt_use_usb off
 */
export const setsebool = async (
  boolean: string,
  value: string | boolean,
  persist = false,
): Promise<boolean> => setsebools({ [boolean]: value }, persist);

/**
 * Sets several booleans.
 *
 * @param pairs values by name
 * @param persist true: at boot too
 * @example tsalt-ssh '*' selinux.setsebools '{virt_use_usb: on, squid_use_tproxy: off}'
 */
export const setsebools = async (pairs: PlainDict, persist = false): Promise<boolean> => {
  const words = Object.entries(pairs).map(([name, value]) => `${name}=${onOrOff(plainStr(value))}`);
  const { code } = await runPlain(['setsebool', ...(persist ? ['-P'] : []), ...words]);
  return code === 0;
};

/** YAML reads `on` as true. */
const onOrOff = (value: string): string =>
  value === 'True' ? 'on' : value === 'False' ? 'off' : value;
