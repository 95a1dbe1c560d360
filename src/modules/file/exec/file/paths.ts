import { basename as base } from 'node:path';
import { SaltInvocationError } from '../../../api.ts';
import { pythonDirname, pythonJoin, pythonNormpath } from '../../python-paths.ts';

/**
 * Returns the last part of a path.
 *
 * @param path the path
 *
 * @example tsalt-ssh '*' file.basename /srv/app/conf
 */
export const basename = async (path: string): Promise<string> =>
  path.endsWith('/') ? '' : base(path);

/**
 * Returns a path without its last part.
 *
 * @param path the path
 *
 * @example tsalt-ssh '*' file.dirname /srv/app/conf
 */
export const dirname = async (path: string): Promise<string> => pythonDirname(path);

/**
 * Joins path components. An absolute component discards those before it; `..` is kept.
 *
 * @param args the parts
 *
 * @example tsalt-ssh '*' file.join / srv app
 */
export const join = async (...args: string[]): Promise<string> => {
  if (args.length === 0) throw new SaltInvocationError('file.join needs at least one part');
  return pythonJoin(args);
};

/**
 * Returns a path without `.`, `..` and doubled slashes.
 *
 * @param path the path
 *
 * @example tsalt-ssh '*' file.normpath /srv/../etc
 */
export const normpath = async (path: string): Promise<string> => pythonNormpath(path);

/**
 * Returns the name of the parent folder: `..`.
 *
 * @example tsalt-ssh '*' file.pardir
 */
export const pardir = async (): Promise<string> => '..';
