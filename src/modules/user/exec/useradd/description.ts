import { rootFlags } from '../../../_shared/commands/other-root.ts';
import { type GecosField, gecosText } from '../../gecos.ts';
import { tool } from '../../user-tools.ts';
import { info } from './read.ts';

const changeGecos = async (
  name: string,
  field: GecosField,
  value: string,
  root: string | null,
): Promise<boolean> => {
  const before = await info(name, root);
  if (!('name' in before)) return false;
  const text = gecosText({ ...before, [field]: value });
  return tool(['usermod', '-c', text, ...rootFlags(root), '--', name]);
};

/**
 * Changes the person's name of an account.
 *
 * @param name the account
 * @param fullname the person's name
 * @param root the folder of another system to work on
 * @example tsalt-ssh '*' user.chfullname deploy "Foo Bar"
 */
export const chfullname = async (
  name: string,
  fullname: string,
  root: string | null = null,
): Promise<boolean> => changeGecos(name, 'fullname', fullname, root);

/**
 * Changes the room of an account.
 *
 * @param name the account
 * @param roomnumber the room
 * @param root the folder of another system to work on
 * @example tsalt-ssh '*' user.chroomnumber deploy 123
 */
export const chroomnumber = async (
  name: string,
  roomnumber: string,
  root: string | null = null,
): Promise<boolean> => changeGecos(name, 'roomnumber', roomnumber, root);

/**
 * Changes the phone at work of an account.
 *
 * @param name the account
 * @param workphone the phone
 * @param root the folder of another system to work on
 * @example tsalt-ssh '*' user.chworkphone deploy 7735550123
 */
export const chworkphone = async (
  name: string,
  workphone: string,
  root: string | null = null,
): Promise<boolean> => changeGecos(name, 'workphone', workphone, root);

/**
 * Changes the phone at home of an account.
 *
 * @param name the account
 * @param homephone the phone
 * @param root the folder of another system to work on
 * @example tsalt-ssh '*' user.chhomephone deploy 7735551234
 */
export const chhomephone = async (
  name: string,
  homephone: string,
  root: string | null = null,
): Promise<boolean> => changeGecos(name, 'homephone', homephone, root);

/**
 * Changes the last field of an account's description.
 *
 * @param name the account
 * @param other the text
 * @param root the folder of another system to work on
 * @example tsalt-ssh '*' user.chother deploy fubar
 */
export const chother = async (
  name: string,
  other: string,
  root: string | null = null,
): Promise<boolean> => changeGecos(name, 'other', other, root);
