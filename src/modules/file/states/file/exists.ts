import { expandUser, exists as isThere } from '../../../_shared/files/file-paths.ts';
import { failed, newReturn } from '../../../_shared/states/returns.ts';
import type { StateReturn } from '../../../api.ts';

/**
 * Checks that the path exists. Changes nothing.
 *
 * @param name the path
 * @unknown ignored
 *
 * @example
 * /etc/passwd:
 *   file.exists: []
 */
export const exists = async (name: string): Promise<StateReturn> => {
  const path = expandUser(name);
  const ret = newReturn(path);
  if (!path) return failed(ret, 'Must provide name to file.exists');
  return isThere(path)
    ? { ...ret, comment: `Path ${path} exists` }
    : failed(ret, `Specified path ${path} does not exist`);
};

/**
 * Checks that the path does not exist. Changes nothing.
 *
 * @param name the path
 * @unknown ignored
 *
 * @example
 * /etc/nologin:
 *   file.missing: []
 */
export const missing = async (name: string): Promise<StateReturn> => {
  const path = expandUser(name);
  const ret = newReturn(path);
  if (!path) return failed(ret, 'Must provide name to file.missing');
  return isThere(path)
    ? failed(ret, `Specified path ${path} exists`)
    : { ...ret, comment: `Path ${path} is missing` };
};
