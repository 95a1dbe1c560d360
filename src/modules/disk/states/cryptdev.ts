/** Manages encrypted devices. */
import { messageOf } from '../../../protocol/error.ts';
import { salt } from '../../_shared/states/call.ts';
import { failed } from '../../_shared/states/returns.ts';
import { fromParts, type StatePart } from '../../_shared/states/state-parts.ts';
import { __opts__, log, type PlainDict, type StateReturn } from '../../api.ts';

/**
 * Makes sure that a device is in /etc/crypttab and open.
 *
 * @param name the name of the mapping
 * @param device the device, or `UUID=…`
 * @param keyfile a file with the key; without one it is asked for at boot
 * @param opts options for /etc/crypttab, a list or separated by commas
 * @param config the file instead of /etc/crypttab
 * @param persist false: without an entry in the file
 * @param immediate true: it is opened now, without the options
 * @param match_on the fields that identify the entry, one or several: `name`, `device`, `password`, `options`
 * @example
 * data:
 *   cryptdev.mapped:
 *     - device: /dev/sdb1
 *     - keyfile: /etc/keys/data
 *     - opts: [luks, discard]
 *     - immediate: true
 */
export const mapped = async (
  name: string,
  {
    device,
    keyfile = null,
    opts = null,
    config = '/etc/crypttab',
    persist = true,
    immediate = false,
    match_on = 'name',
  }: {
    device: string;
    keyfile?: string | null;
    opts?: string | string[] | null;
    config?: string;
    persist?: boolean;
    immediate?: boolean;
    match_on?: string | string[];
  },
): Promise<StateReturn> => {
  if (!immediate && !persist)
    return failed(
      name,
      'Either persist or immediate must be set, otherwise this state does nothing',
    );
  try {
    const parts: StatePart[] = [];
    if (immediate) parts.push(await openNow(name, device, keyfile, opts));
    if (persist) {
      const came: string = await salt('cryptdev.set_crypttab')(
        name,
        device,
        keyfile,
        opts,
        config,
        Boolean(__opts__.test),
        match_on,
      );
      const words: PlainDict = {
        new: `Entry added in ${config}`,
        change: `Existing entry in ${config} changed`,
      };
      if (words[came]) parts.push({ changes: { crypttab: words[came] } });
    }
    return fromParts(name, parts);
  } catch (error) {
    return failed(name, messageOf(error));
  }
};

const openNow = async (
  name: string,
  device: string,
  keyfile: string | null,
  opts: string | string[] | null,
): Promise<StatePart> => {
  if (keyfile === null || keyfile === 'none' || keyfile === '-')
    return {
      ok: false,
      changes: { cryptsetup: 'Device cannot be mapped immediately without a keyfile' },
    };
  if (name in ((await salt('cryptdev.active')()) as object)) return {};
  if (opts?.length) log.warning('Ignore cryptdev configuration when mapping immediately');
  if (__opts__.test)
    return {
      comment: 'Device would be mapped immediately',
      changes: { cryptsetup: 'Device would be mapped using cryptsetup' },
    };
  return (await salt('cryptdev.open')(name, device, keyfile))
    ? { changes: { cryptsetup: 'Device mapped using cryptsetup' } }
    : { ok: false, changes: { cryptsetup: 'Device failed to map using cryptsetup' } };
};

/**
 * Makes sure that a device is neither in /etc/crypttab nor open.
 *
 * @param name the name of the mapping
 * @param config the file instead of /etc/crypttab
 * @param persist false: do not change the file
 * @param immediate true: it is closed now
 * @example
 * data:
 *   cryptdev.unmapped:
 *     - immediate: true
 */
export const unmapped = async (
  name: string,
  {
    config = '/etc/crypttab',
    persist = true,
    immediate = false,
  }: { config?: string; persist?: boolean; immediate?: boolean } = {},
): Promise<StateReturn> => {
  try {
    const parts: StatePart[] = [];
    if (immediate) parts.push(await closeNow(name));
    if (persist && (await isListed(name, config))) {
      if (!__opts__.test) await salt('cryptdev.rm_crypttab')(name, config);
      parts.push({ changes: { crypttab: `Entry removed from ${config}` } });
    }
    return fromParts(name, parts);
  } catch (error) {
    return failed(name, messageOf(error));
  }
};

const isListed = async (name: string, config: string): Promise<boolean> =>
  name in ((await salt('cryptdev.crypttab')(config)) as object);

const closeNow = async (name: string): Promise<StatePart> => {
  if (!(name in ((await salt('cryptdev.active')()) as object))) return {};
  if (__opts__.test)
    return {
      comment: 'Device would be unmapped immediately',
      changes: { cryptsetup: 'Device would be unmapped using cryptsetup' },
    };
  return (await salt('cryptdev.close')(name))
    ? { changes: { cryptsetup: 'Device unmapped using cryptsetup' } }
    : { ok: false, changes: { cryptsetup: 'Device failed to unmap using cryptsetup' } };
};
