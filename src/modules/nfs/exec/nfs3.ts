/**
 * Manages the NFS exports of this host in /etc/exports.
 *
 * @depends exportfs
 */

import { runCommand } from '../../_shared/commands/run-command.ts';
import { which } from '../../_shared/commands/which.ts';
import { replaceFile } from '../../_shared/files/write-file.ts';
import { CommandExecutionError, SaltInvocationError } from '../../api.ts';
import {
  checkExport,
  type NfsClient,
  parseExports,
  readExportsFile,
  withExport,
} from '../nfs-exports.ts';

export const __virtual__ = (): true | [false, string] =>
  which('exportfs') !== undefined ||
  which('showmount') !== undefined || [false, 'The programs of NFS are not installed.'];

type Exports = { [path: string]: NfsClient[] };

/**
 * The exports: path → clients, `{hosts, options}` of each.
 *
 * @param exports the file
 * @example tsalt-ssh '*' nfs3.list_exports
 */
export const list_exports = async (exports = '/etc/exports'): Promise<Exports> =>
  Object.fromEntries(parseExports(readExportsFile(exports)));

/**
 * Removes an export and returns the others. `nfs3.reload_exports` applies the change.
 *
 * @param exports the file
 * @param path the export
 * @example tsalt-ssh '*' nfs3.del_export path=/media/storage
 */
export const del_export = async (
  exports = '/etc/exports',
  path: string | null = null,
): Promise<Exports> => {
  const text = readExportsFile(exports);
  if (path === null) throw new SaltInvocationError('nfs3.del_export needs a path.');
  if (!parseExports(text).has(path))
    throw new CommandExecutionError(`${path} is not exported in ${exports}.`);
  await replaceFile(exports, withExport(text, path, undefined));
  return await list_exports(exports);
};

/**
 * Adds clients to an export, or a new one. `nfs3.reload_exports` makes it so.
 *
 * @param exports the file
 * @param path the folder
 * @param hosts the clients that may mount it: a host, a network, `*.example.com`, `*`
 * @param options how, as `[rw, sync]`
 * @example tsalt-ssh '*' nfs3.add_export path=/srv/test hosts=127.0.0.1 options='[rw]'
 */
export const add_export = async (
  exports = '/etc/exports',
  path: string | null = null,
  hosts: string | null = null,
  options: string[] | null = null,
): Promise<NfsClient> => {
  if (path === null || hosts === null)
    throw new SaltInvocationError('nfs3.add_export needs path and hosts.');
  const added = { hosts, options: (options ?? []).map(String) };
  checkExport(path, [added]);
  const text = readExportsFile(exports);
  const clients = [...(parseExports(text).get(path) ?? []), added];
  await replaceFile(exports, withExport(text, path, clients));
  return added;
};

/**
 * Exports what the file says now: `{stdout, stderr, result}`.
 *
 * @example tsalt-ssh '*' nfs3.reload_exports
 */
export const reload_exports = async (): Promise<{
  stdout: string;
  stderr: string;
  result: boolean;
}> => {
  const { code, stdout, stderr } = await runCommand(['exportfs', '-r'], { plainLocale: true });
  const [out, err] = [stdout.trimEnd(), stderr.trimEnd()];
  // It ended well with complaints once: they count as failures, as in Salt.
  return { stdout: out, stderr: err, result: code === 0 && err === '' };
};
