import { toList } from '../../../_shared/states/values.ts';
import { type Plain, type PlainDict, SaltInvocationError } from '../../../api.ts';
import { changeLvm, lvmOptions } from '../../lvm.ts';
import { vgdisplay } from './facts.ts';

const createOptions = [
  'addtag',
  'alloc',
  'autobackup',
  'clustered',
  'maxlogicalvolumes',
  'maxphysicalvolumes',
  'metadatatype',
  'vgmetadatacopies',
  'metadatacopies',
  'physicalextentsize',
  'zero',
];

const answers = (force: boolean): string => (force ? '--yes' : '-qq');

const needed = (vgname: string, devices: Plain): string[] => {
  const names = toList(devices);
  if (!vgname || names.length === 0)
    throw new SaltInvocationError('Error: vgname and device(s) are both required');
  return names;
};

/**
 * Creates a volume group from devices and returns its properties. Further arguments are options of
 * `vgcreate`.
 *
 * @param vgname its name
 * @param devices one, or several as a list or separated by commas
 * @param force true: answer questions with yes
 * @example tsalt-ssh '*' lvm.vgcreate data /dev/sdb1,/dev/sdb2
 */
export const vgcreate = async (
  vgname: string,
  devices: Plain,
  { force = false, ...options }: { force?: boolean; [option: string]: unknown } = {},
): Promise<PlainDict> => {
  const extra = lvmOptions(options, createOptions);
  await changeLvm('vgcreate', answers(force), ...extra, '--', vgname, ...needed(vgname, devices));
  return {
    ...(await vgdisplay(vgname)),
    'Output from vgcreate': `Volume group "${vgname}" successfully created`,
  };
};

/**
 * Adds devices to a volume group.
 *
 * @param vgname the group
 * @param devices one, or several as a list or separated by commas
 * @param force true: answer questions with yes
 * @example tsalt-ssh '*' lvm.vgextend data /dev/sdc1
 */
export const vgextend = async (
  vgname: string,
  devices: Plain,
  { force = false }: { force?: boolean } = {},
): Promise<PlainDict> => {
  await changeLvm('vgextend', answers(force), '--', vgname, ...needed(vgname, devices));
  return { 'Output from vgextend': `Volume group "${vgname}" successfully extended` };
};

/**
 * Removes a volume group, with its logical volumes.
 *
 * @param vgname the group
 * @param force false: do not answer questions with yes
 * @example tsalt-ssh '*' lvm.vgremove data
 */
export const vgremove = async (
  vgname: string,
  { force = true }: { force?: boolean } = {},
): Promise<string> => {
  await changeLvm('vgremove', answers(force), '--', vgname);
  return `Volume group "${vgname}" successfully removed`;
};
