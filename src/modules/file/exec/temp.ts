/** Creates temporary files and folders. They are not removed automatically. */

import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../../../protocol/error.ts';
import { closeSync, mkdirSync, openSync } from '../../_shared/safe-fs/fs.ts';
import { CommandExecutionError, SaltInvocationError } from '../../api.ts';

/**
 * Creates a folder that only this account can enter and returns its path.
 *
 * @param suffix suffix of its name
 * @param prefix prefix of its name
 * @param parent the folder it is made in
 *
 * @example tsalt-ssh '*' temp.dir prefix=mytemp- parent=/var/run/
 */
export const dir = async (
  suffix = '',
  prefix = 'tmp',
  parent: string | null = null,
): Promise<string> => made({ suffix, prefix, parent }, path => mkdirSync(path, { mode: 0o700 }));

/**
 * Creates an empty file that only this account can read and returns its path.
 *
 * @param suffix suffix of its name
 * @param prefix prefix of its name
 * @param parent the folder it is made in
 *
 * @example tsalt-ssh '*' temp.file prefix=mytemp- parent=/var/run/
 */
export const file = async (
  suffix = '',
  prefix = 'tmp',
  parent: string | null = null,
): Promise<string> =>
  made({ suffix, prefix, parent }, path => closeSync(openSync(path, 'wx', 0o600)));

const made = (
  { suffix, prefix, parent }: { suffix: string; prefix: string; parent: string | null },
  make: (path: string) => void,
): string => {
  if (`${prefix}${suffix}`.includes('/'))
    throw new SaltInvocationError('"prefix" and "suffix" are parts of a name, without slashes.');
  const path = join(parent ?? tmpdir(), `${prefix}${randomBytes(8).toString('hex')}${suffix}`);
  try {
    make(path);
  } catch (cause) {
    throw new CommandExecutionError(`${path} cannot be made: ${messageOf(cause)}`, { cause });
  }
  return path;
};
