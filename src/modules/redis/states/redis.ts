/** Keys of a Redis server, and the server it follows. */

import { salt } from '../../_shared/states/call.ts';
import { failOnError } from '../../_shared/states/fail-on-error.ts';
import { changed, failed, unchanged, would } from '../../_shared/states/returns.ts';
import { __opts__, kwargs, type PlainDict, type StateReturn } from '../../api.ts';
import type { RedisOptions } from '../redis-run.ts';

/**
 * A key holds a string. A requested expiry is set in every run and reported as a change.
 *
 * @param name the key
 * @param value the text
 * @param expire seconds after which the key ends
 * @param expireat when it ends, in seconds since 1970; goes before `expire`
 * @example
 * motto:
 *   redis.string:
 *     - value: string data
 *     - host: localhost
 *     - password: secret
 */
export const string = async (
  name: string,
  value: string,
  {
    expire = null,
    expireat = null,
    ...where
  }: { expire?: number | null; expireat?: number | null } & RedisOptions = {},
): Promise<StateReturn> =>
  failOnError(name, async () => {
    const differs = (await salt('redis.get_key')(name, where)) !== value;
    const changes: PlainDict = {
      ...(differs ? { [name]: 'Value updated' } : {}),
      ...(expireat
        ? { expireat: `Key expires at ${expireat}` }
        : expire
          ? { expire: `TTL set to ${expire} seconds` }
          : {}),
    };
    if (__opts__.test && Object.keys(changes).length > 0)
      return would(name, `Key ${name} would be updated`, changes);
    if (differs) await salt('redis.set_key')(name, value, where);
    if (expireat) await salt('redis.expireat')(name, expireat, where);
    else if (expire) await salt('redis.expire')(name, expire, where);
    return changed(
      name,
      differs ? 'Key updated to new value' : 'Key already set to defined value',
      changes,
    );
  });

/**
 * Keys are not there.
 *
 * @param name the key
 * @param keys a list of keys instead of it
 * @example
 * old sessions:
 *   redis.absent:
 *     - keys: [session:1, session:2]
 */
export const absent = async (
  name: string,
  { keys = null, ...where }: { keys?: string[] | null } & RedisOptions = {},
): Promise<StateReturn> =>
  failOnError(name, async () => {
    const wanted = keys && keys.length > 0 ? keys : null;
    const found: string[] = [];
    for (const key of wanted ?? [name]) if (await salt('redis.exists')(key, where)) found.push(key);
    if (found.length === 0) return unchanged(name, 'Key(s) specified already absent');
    if (__opts__.test) return would(name, 'Key(s) would be deleted', { deleted: found });
    await salt('redis.delete')(...found, kwargs(where));
    return changed(name, wanted ? 'Keys deleted' : 'Key deleted', { deleted: found });
  });

/**
 * A server follows the master that a sentinel names, unless this host is it.
 *
 * @param name the name that the sentinel has for the master
 * @param sentinel_host the sentinel
 * @param sentinel_port its port
 * @param sentinel_password its password
 * @example
 * mymaster:
 *   redis.slaveof:
 *     - sentinel_host: sentinel1
 *     - port: 6379
 */
export const slaveof = async (
  name: string,
  {
    sentinel_host = null,
    sentinel_port = null,
    sentinel_password = null,
    ...where
  }: {
    sentinel_host?: string | null;
    sentinel_port?: number | string | null;
    sentinel_password?: string | null;
  } & RedisOptions = {},
): Promise<StateReturn> =>
  failOnError(name, async () => {
    const master: Master = await salt('redis.sentinel_get_master_ip')(name, {
      host: sentinel_host,
      port: sentinel_port,
      password: sentinel_password,
    });
    if (((await salt('network.ip_addrs')()) as string[]).includes(master.master_host))
      return unchanged(name, `Minion is the master: ${name}`);
    const old: Master = await salt('redis.get_master_ip')(where);
    if (same(old, master)) return unchanged(name, `Minion already slave of master: ${name}`);
    if (__opts__.test)
      return would(name, `Minion will be made a slave of ${name}: ${master.master_host}`, {
        old,
        new: master,
      });
    await salt('redis.slaveof')(master.master_host, master.master_port, where);
    const now: Master = await salt('redis.get_master_ip')(where);
    if (!same(now, master)) return failed(name, 'Failed to setup slave');
    return changed(name, `Minion successfully connected to master: ${name}`, { old, new: now });
  });

type Master = { master_host: string; master_port: number | string };

const same = (one: Master, other: Master): boolean =>
  one.master_host === other.master_host && one.master_port === other.master_port;
