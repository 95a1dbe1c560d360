/** Checks the space on disks, as a condition for other states. Changes nothing. */

import { isDir } from '../../_shared/files/file-paths.ts';
import { salt } from '../../_shared/states/call.ts';
import { failOnError } from '../../_shared/states/fail-on-error.ts';
import { failed, unchanged } from '../../_shared/states/returns.ts';
import type { PlainDict, StateReturn } from '../../api.ts';

type Limit = string | number | null;
type Space = { used: number; available: number; data: PlainDict };

/**
 * Checks that the used space of a file system is within limits, in percent. The numbers are in
 * `data` of the result.
 *
 * @param name its mount point, or a folder on it
 * @param maximum no more than this
 * @param minimum no less than this
 * @param absolute true: in kilobytes, not in percent
 * @param free true: the limits apply to free instead of used space
 * @example
 * /srv:
 *   disk.status:
 *     - maximum: 90%
 */
export const status = async (
  name: string,
  {
    maximum = null,
    minimum = null,
    absolute = false,
    free = false,
  }: { maximum?: Limit; minimum?: Limit; absolute?: boolean; free?: boolean } = {},
): Promise<StateReturn> =>
  failOnError(name, async () => {
    const most = limitOf('maximum', maximum, absolute);
    const least = limitOf('minimum', minimum, absolute);
    const wrong = [most.wrong, least.wrong].filter(Boolean).join('');
    if (wrong !== '') return failed(name, wrong);
    if (most.value !== undefined && least.value !== undefined && least.value >= most.value)
      return failed(name, 'minimum must be less than maximum ');
    const space = (await mounted(name, absolute)) ?? (await folder(name, absolute));
    if (space === undefined)
      return failed(
        name,
        `Disk mount ${name} not present. Directory ${name} does not exist or is not a directory`,
      );
    const amount = free ? space.available : space.used;
    const what = `Disk ${free ? 'available' : 'used'} space is`;
    const unit = absolute ? 'KB' : '%';
    const tell = (limit: string, bound: number): StateReturn => ({
      ...failed(name, `${what} ${limit} of ${bound} ${unit} at ${amount} ${unit}`),
      data: space.data,
    });
    if (least.value !== undefined && amount < least.value)
      return tell('below minimum', least.value);
    if (most.value !== undefined && amount > most.value) return tell('above maximum', most.value);
    return { ...unchanged(name, 'Disk used space in acceptable range'), data: space.data };
  });

const limitOf = (
  name: string,
  given: Limit,
  absolute: boolean,
): { value?: number; wrong?: string } => {
  if (given === null) return {};
  const text = String(given).replace(absolute ? /^[ KB]+|[ KB]+$/g : /^[ %]+|[ %]+$/g, '');
  if (!/^[+-]?\d+$/.test(text)) return { wrong: `${name} must be an integer ` };
  const value = Number(text);
  return absolute || (value >= 0 && value <= 100)
    ? { value }
    : { wrong: `${name} must be in the range [0, 100] ` };
};

const mounted = async (path: string, absolute: boolean): Promise<Space | undefined> => {
  const data: PlainDict = (await salt('disk.usage')())[path];
  if (data === undefined) return undefined;
  const used = Number.parseInt(String(absolute ? data.used : data.capacity), 10);
  return { used, available: absolute ? Number(data.available) : 100 - used, data };
};

const folder = async (path: string, absolute: boolean): Promise<Space | undefined> => {
  if (!isDir(path)) return undefined;
  const data: { [path: string]: { total: number; available: number } } =
    await salt('status.diskusage')(path);
  const { total = 0, available = 0 } = data[path] ?? {};
  const share = (bytes: number): number =>
    absolute ? Math.floor(bytes / 1024) : total === 0 ? 0 : Math.round((bytes / total) * 1000) / 10;
  return { used: share(total - available), available: share(available), data };
};
