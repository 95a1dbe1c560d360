import { messageOf } from '../../../../protocol/error.ts';
import { salt } from '../../../_shared/states/call.ts';
import { failOnError } from '../../../_shared/states/fail-on-error.ts';
import { changed, failed, inPlan, unchanged, would } from '../../../_shared/states/returns.ts';
import { __opts__, type Plain, type PlainDict, type StateReturn } from '../../../api.ts';
import { megabytes } from '../../lvm.ts';

/** Returns the properties of a logical volume; undefined if it does not exist. */
const infoOf = async (path: string): Promise<{ [field: string]: string } | undefined> =>
  (await salt('lvm.lvdisplay')(path, { quiet: true }))[path];

/**
 * Makes sure that a logical volume exists with this size. Sizes are rounded up to whole extents of
 * its group.
 *
 * @param name the volume; with `snapshot`, the volume to take a snapshot of
 * @param vgname its volume group; `group/pool` for a thin volume
 * @param size its size in megabytes, or with S, M, G, T or P
 * @param extents its size in extents; `50%FREE` and the like count only for a new volume
 * @param snapshot the name of the snapshot
 * @param pv the physical volume that a new one shall be on
 * @param thinvolume true: a thin volume
 * @param thinpool true: a pool for thin volumes
 * @param force true: make it smaller too; answer questions with yes
 * @param resizefs true: with its file system
 * @example
 * www:
 *   lvm.lv_present:
 *     - vgname: data
 *     - size: 10G
 */
export const lv_present = async (
  name: string,
  {
    vgname,
    size = null,
    extents = null,
    snapshot = null,
    pv = null,
    thinvolume = false,
    thinpool = false,
    force = false,
    resizefs = false,
    ...options
  }: {
    vgname: string;
    size?: Plain;
    extents?: Plain;
    snapshot?: string | null;
    pv?: string | null;
    thinvolume?: boolean;
    thinpool?: boolean | string;
    force?: boolean;
    resizefs?: boolean;
    [option: string]: unknown;
  },
): Promise<StateReturn> =>
  failOnError(name, async () => {
    if (extents && size) return failed(name, 'Only one of extents or size can be specified.');
    const volume = snapshot ?? name;
    const group = vgname.split('/')[0] ?? '';
    const path = `/dev/${thinvolume ? group : vgname}/${volume}`;
    const before = await infoOf(path);
    if (before) {
      const wanted = await wantedExtents(before, group, size, extents);
      return resized(name, volume, path, before, { wanted, size, extents, force, resizefs });
    }
    if (__opts__.test)
      return would(
        name,
        `Logical Volume ${volume} is set to be created`,
        inPlan({ created: { [path]: size ?? extents } }),
      );
    const problem = (why: string): string =>
      `Failed to create Logical Volume ${volume}. Error: ${why}`;
    let created: PlainDict;
    try {
      created = await salt('lvm.lvcreate')(volume, vgname, {
        ...options,
        size,
        extents,
        snapshot: snapshot === null ? null : name,
        pv,
        thinvolume,
        thinpool: Boolean(thinpool),
        force,
      });
    } catch (error) {
      return failed(name, problem(messageOf(error)));
    }
    return (await infoOf(path))
      ? changed(name, `Created Logical Volume ${volume}`, { created })
      : failed(name, problem('it is not there afterwards'));
  });

const extentsOf = (info: { [field: string]: string }): number =>
  Number(info['Current Logical Extents Associated']);

/** Returns the desired number of extents; undefined if it is given relative to values that change. */
const wantedExtents = async (
  before: { [field: string]: string },
  group: string,
  size: Plain,
  extents: Plain,
): Promise<number | undefined> => {
  if (extents) return String(extents).includes('%') ? undefined : Number(extents);
  if (!size) return undefined;
  const info = (await salt('lvm.vgdisplay')(group, { quiet: true }))[group];
  const extentKb = Number(info?.['Physical Extent Size (kB)']);
  // If the group's extent size is unknown, it follows from the volume's size, which is in sectors,
  // and its extents.
  const kb = extentKb || Number(before['Logical Volume Size']) / 2 / extentsOf(before);
  return Math.ceil((megabytes(size) * 1024) / kb);
};

const resized = async (
  name: string,
  volume: string,
  path: string,
  before: { [field: string]: string },
  {
    wanted,
    size,
    extents,
    force,
    resizefs,
  }: { wanted: number | undefined; size: Plain; extents: Plain; force: boolean; resizefs: boolean },
): Promise<StateReturn> => {
  const old = extentsOf(before);
  if (wanted === undefined || wanted === old)
    return unchanged(
      name,
      extents && wanted === undefined
        ? `Logical Volume ${volume} already present, ${extents} won't be resized.`
        : `Logical Volume ${volume} already present`,
    );
  if (wanted < old && !force)
    return failed(name, "To reduce a Logical Volume option 'force' must be True.");
  if (__opts__.test)
    return would(
      name,
      `Logical Volume ${volume} is set to be resized`,
      inPlan({ resized: { [path]: `${old} to ${wanted} extents` } }),
    );
  const problem = (why: string): string =>
    `Failed to resize Logical Volume ${volume}.\nError: ${why}`;
  let done: PlainDict;
  try {
    done = await salt('lvm.lvresize')(size || null, path, {
      extents: size ? null : extents,
      force,
      resizefs,
    });
  } catch (error) {
    return failed(name, problem(messageOf(error)));
  }
  const after = await infoOf(path);
  return after && extentsOf(after) !== old
    ? changed(name, `Resized Logical Volume ${volume}`, { resized: done })
    : failed(name, problem('it is as large as before'));
};

/**
 * Makes sure that a logical volume does not exist.
 *
 * @param name the volume
 * @param vgname its volume group
 * @example
 * www:
 *   lvm.lv_absent:
 *     - vgname: data
 */
export const lv_absent = async (
  name: string,
  { vgname }: { vgname: string },
): Promise<StateReturn> =>
  failOnError(name, async () => {
    const path = `/dev/${vgname}/${name}`;
    if (!(await infoOf(path))) return unchanged(name, `Logical Volume ${name} already absent`);
    if (__opts__.test)
      return would(name, `Logical Volume ${name} is set to be removed`, inPlan({ removed: path }));
    const removed: string = await salt('lvm.lvremove')(name, vgname);
    return (await infoOf(path))
      ? failed(name, `Failed to remove Logical Volume ${name}`)
      : changed(name, `Removed Logical Volume ${name}`, { removed });
  });
