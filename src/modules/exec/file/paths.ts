import { basename as base, join as joined, normalize, dirname as parent } from 'node:path';

/**
 * The last part of a path.
 *
 * @param path the path
 *
 * @example tsalt-ssh '*' file.basename /srv/app/conf
 */
export const basename = async (path: string): Promise<string> =>
  path.endsWith('/') ? '' : base(path);

/**
 * A path without its last part.
 *
 * @param path the path
 *
 * @example tsalt-ssh '*' file.dirname /srv/app/conf
 */
export const dirname = async (path: string): Promise<string> =>
  path.includes('/') ? (path.endsWith('/') ? path.replace(/\/+$/, '') || '/' : parent(path)) : '';

/**
 * Parts joined to a path.
 *
 * @param args the parts
 *
 * @example tsalt-ssh '*' file.join / srv app
 */
export const join = async (...args: string[]): Promise<string> => joined(...args);

/**
 * A path without `.`, `..` and doubled slashes.
 *
 * @param path the path
 *
 * @example tsalt-ssh '*' file.normpath /srv/../etc
 */
export const normpath = async (path: string): Promise<string> =>
  normalize(path).replace(/(.)\/$/, '$1');

/**
 * How a path names the folder above: `..`.
 *
 * @example tsalt-ssh '*' file.pardir
 */
export const pardir = async (): Promise<string> => '..';
