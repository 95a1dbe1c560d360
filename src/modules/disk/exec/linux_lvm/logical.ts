import { plainStr } from '../../../_shared/text/python-text.ts';
import { type Plain, type PlainDict, SaltInvocationError } from '../../../api.ts';
import { changeLvm, lvmOptions } from '../../lvm.ts';
import { lvdisplay } from './facts.ts';

const createOptions = [
  'activate',
  'chunksize',
  'contiguous',
  'discards',
  'stripes',
  'stripesize',
  'minor',
  'persistent',
  'mirrors',
  'monitor',
  'permission',
  'poolmetadatasize',
  'readahead',
  'regionsize',
  'type',
  'virtualsize',
  'zero',
];
const createFlags = ['nosync', 'noudevsync', 'ignoremonitoring', 'thin'];

/** `-L size` or `-l extents`: one of them. */
const sizeWords = (size: Plain, extents: Plain): [string, string] => {
  if (size && extents)
    throw new SaltInvocationError('Error: Please specify only one of size or extents');
  if (size) return ['-L', plainStr(size)];
  if (extents) return ['-l', plainStr(extents)];
  throw new SaltInvocationError('Error: Either size or extents must be specified');
};

/**
 * Creates a logical volume and returns its properties. Further arguments are options of `lvcreate`.
 *
 * @param lvname its name
 * @param vgname its volume group; `group/pool` for a thin volume
 * @param size its size, `10G`
 * @param extents its size in extents, or `50%FREE`
 * @param snapshot make it a snapshot of this volume
 * @param pv the physical volume that it shall be on
 * @param thinvolume true: a thin volume
 * @param thinpool true: a pool for thin volumes
 * @param force true: answer questions with yes
 * @example tsalt-ssh '*' lvm.lvcreate www data size=10G
 */
export const lvcreate = async (
  lvname: string,
  vgname: string,
  {
    size = null,
    extents = null,
    snapshot = null,
    pv = null,
    thinvolume = false,
    thinpool = false,
    force = false,
    ...options
  }: {
    size?: Plain;
    extents?: Plain;
    snapshot?: string | null;
    pv?: string | null;
    thinvolume?: boolean;
    thinpool?: boolean;
    force?: boolean;
    [option: string]: unknown;
  } = {},
): Promise<PlainDict> => {
  if (thinvolume && thinpool)
    throw new SaltInvocationError('Error: Please set only one of thinvolume or thinpool to True');
  if (thinvolume && extents)
    throw new SaltInvocationError('Error: Thin volume size cannot be specified as extents');
  const [unit, amount] = sizeWords(size, extents);
  const kind = thinvolume ? ['--thin', '-n'] : thinpool ? ['--thinpool'] : ['-n'];
  await changeLvm(
    'lvcreate',
    force ? '--yes' : '-qq',
    ...kind,
    lvname,
    thinvolume ? '-V' : unit,
    amount,
    ...lvmOptions(options, createOptions, createFlags),
    ...(snapshot ? ['-s', '--', `${vgname}/${snapshot}`] : ['--', vgname]),
    ...(pv ? [pv] : []),
  );
  return {
    ...(await lvdisplay(`/dev/${vgname.split('/')[0]}/${lvname}`)),
    'Output from lvcreate': `Logical volume "${lvname}" created.`,
  };
};

/**
 * Removes a logical volume.
 *
 * @param lvname the volume
 * @param vgname its volume group
 * @param force false: do not answer questions with yes
 * @example tsalt-ssh '*' lvm.lvremove www data
 */
export const lvremove = async (
  lvname: string,
  vgname: string,
  { force = true }: { force?: boolean } = {},
): Promise<string> => {
  await changeLvm('lvremove', force ? '--yes' : '-qq', '--', `${vgname}/${lvname}`);
  return `Logical volume "${lvname}" successfully removed`;
};

type ResizeOptions = {
  /** its size in extents, or `+100%FREE` */
  extents?: Plain;
  force?: boolean;
  /** true: with its file system */
  resizefs?: boolean;
};

/**
 * Makes a logical volume larger or smaller.
 *
 * @param size its size, `10G`, or `+1G`
 * @param lvpath the volume's path
 * @param force true: smaller too, without a question
 * @example tsalt-ssh '*' lvm.lvresize +12M /dev/data/www
 */
export const lvresize = async (
  size: Plain = null,
  lvpath = '',
  { extents = null, force = false, resizefs = false }: ResizeOptions = {},
): Promise<PlainDict> => {
  await changeLvm(
    'lvresize',
    ...(force ? ['--force', '--yes'] : ['-qq']),
    ...(resizefs ? ['--resizefs'] : []),
    ...sizeWords(size, extents),
    '--',
    lvpath,
  );
  return { 'Output from lvresize': `Logical volume "${lvpath}" successfully resized.` };
};

/**
 * Makes a logical volume larger.
 *
 * @param size its size, `10G`, or `+1G`
 * @param lvpath the volume's path
 * @param force true: answer questions with yes
 * @example tsalt-ssh '*' lvm.lvextend +12M /dev/data/www
 */
export const lvextend = async (
  size: Plain = null,
  lvpath = '',
  { extents = null, force = false, resizefs = false }: ResizeOptions = {},
): Promise<PlainDict> => {
  await changeLvm(
    'lvextend',
    force ? '--yes' : '-qq',
    ...(resizefs ? ['--resizefs'] : []),
    ...sizeWords(size, extents),
    '--',
    lvpath,
  );
  return { 'Output from lvextend': `Logical volume "${lvpath}" successfully extended.` };
};
