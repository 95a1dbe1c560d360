/** Manages the NFS exports of the host. */
import { isDeepStrictEqual } from 'node:util';
import { messageOf } from '../../../protocol/error.ts';
import { which } from '../../_shared/commands/which.ts';
import { salt } from '../../_shared/states/call.ts';
import { failed, newReturn, unchanged, would } from '../../_shared/states/returns.ts';
import { __opts__, type StateReturn } from '../../api.ts';
import { checkExport, type NfsClient } from '../nfs-exports.ts';

export const __virtual__ = (): true | [false, string] =>
  which('exportfs') !== undefined || [
    false,
    'The nfs_exports state module failed to load: the exportfs binary is not in the path',
  ];

type Clients = { hosts: string; options?: string[] | null }[];

/**
 * A folder is exported to these clients, and to no others.
 *
 * @param name the folder
 * @param clients `{hosts, options}` of each
 * @param hosts the client, when there is one: a host, a network, `*.example.com`, `*`
 * @param options how, with `hosts`
 * @param exports the file
 * @example
 * /srv/nfs:
 *   nfs_export.present:
 *     - clients:
 *       - hosts: 10.0.2.0/24
 *         options: [rw]
 *       - hosts: '*.example.com'
 *         options: [ro, subtree_check]
 */
export const present = async (
  name: string,
  {
    clients = null,
    hosts = null,
    options = null,
    exports = '/etc/exports',
  }: {
    clients?: Clients | null;
    hosts?: string | null;
    options?: string[] | null;
    exports?: string;
  } = {},
): Promise<StateReturn> => {
  const given = clients?.length ? clients : hosts ? [{ hosts, options }] : undefined;
  if (!given) return failed(name, "Either 'clients' or 'hosts' must be defined");
  const wanted = given.map(one => ({ hosts: one.hosts, options: (one.options ?? []).map(String) }));
  try {
    // The export is removed before it is written again.
    checkExport(name, wanted);
    const all: { [path: string]: NfsClient[] } = await salt('nfs3.list_exports')(exports);
    const have = all[name] ?? null;
    if (have && isDeepStrictEqual(have, wanted))
      return unchanged(name, `Export ${name} already configured`);
    const changes = { old: have, new: wanted };
    if (__opts__.test)
      return would(name, `Export ${name} would be ${have ? 'changed' : 'added'}`, changes);
    if (have) await salt('nfs3.del_export')(exports, name);
    for (const one of wanted) await salt('nfs3.add_export')(exports, name, one.hosts, one.options);
    const { result, stderr }: Reload = await salt('nfs3.reload_exports')();
    return { ...newReturn(name), changes, result, comment: stderr };
  } catch (error) {
    return failed(name, messageOf(error));
  }
};

type Reload = { result: boolean; stderr: string };

/**
 * A folder is not exported.
 *
 * @param name the folder
 * @param exports the file
 * @example
 * /srv/nfs:
 *   nfs_export.absent
 */
export const absent = async (
  name: string,
  { exports = '/etc/exports' }: { exports?: string } = {},
): Promise<StateReturn> => {
  try {
    const all: { [path: string]: NfsClient[] } = await salt('nfs3.list_exports')(exports);
    const have = all[name];
    if (!have) return unchanged(name, `Export ${name} already absent`);
    const changes = { [name]: have };
    if (__opts__.test) return would(name, `Export ${name} would be removed`, changes);
    await salt('nfs3.del_export')(exports, name);
    const { result, stderr }: Reload = await salt('nfs3.reload_exports')();
    const comment = result ? `Export ${name} removed` : stderr;
    return { ...newReturn(name), changes, result, comment };
  } catch (error) {
    return failed(name, messageOf(error));
  }
};
