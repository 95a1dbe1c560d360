import { configText } from '../../../_shared/states/config-option.ts';
import { CommandExecutionError, type PlainDict } from '../../../api.ts';
import {
  askAt,
  infoOf,
  RedisError,
  type RedisOptions,
  redisAsk,
  replyPairs,
} from '../../redis-run.ts';

/**
 * Makes the server rewrite its append-only file in the background.
 *
 * @example tsalt-ssh cache1 redis.bgrewriteaof
 */
export const bgrewriteaof = async (options: RedisOptions = {}): Promise<true> => {
  await redisAsk(['BGREWRITEAOF'], options);
  return true;
};

/**
 * Has the server save its data, in the background.
 *
 * @example tsalt-ssh cache1 redis.bgsave
 */
export const bgsave = async (options: RedisOptions = {}): Promise<true> => {
  await redisAsk(['BGSAVE'], options);
  return true;
};

/**
 * Settings of the server. Passwords are among them.
 *
 * @param pattern a glob for their names
 * @example tsalt-ssh cache1 redis.config_get 'max*'
 */
export const config_get = async (
  pattern = '*',
  options: RedisOptions = {},
): Promise<{ [name: string]: string }> =>
  replyPairs(await redisAsk(['CONFIG', 'GET', pattern], options));

/**
 * Changes a setting of the server, until it is started again.
 *
 * @param name the setting
 * @param value its value
 * @example tsalt-ssh cache1 redis.config_set maxmemory 100mb
 */
export const config_set = async (
  name: string,
  value: string,
  options: RedisOptions = {},
): Promise<boolean> => (await redisAsk(['CONFIG', 'SET', name, value], options)) === 'OK';

/**
 * How many keys a database has.
 *
 * @example tsalt-ssh cache1 redis.dbsize
 */
export const dbsize = async (options: RedisOptions = {}): Promise<number> =>
  Number(await redisAsk(['DBSIZE'], options));

/**
 * Removes all keys of all databases.
 *
 * @example tsalt-ssh cache1 redis.flushall
 */
export const flushall = async (options: RedisOptions = {}): Promise<boolean> =>
  (await redisAsk(['FLUSHALL'], options)) === 'OK';

/**
 * Removes all keys of a database.
 *
 * @example tsalt-ssh cache1 redis.flushdb db=1
 */
export const flushdb = async (options: RedisOptions = {}): Promise<boolean> =>
  (await redisAsk(['FLUSHDB'], options)) === 'OK';

/**
 * Returns the server's information and statistics.
 *
 * @example tsalt-ssh cache1 redis.info
 */
export const info = async (options: RedisOptions = {}): Promise<PlainDict> =>
  infoOf(await redisAsk(['INFO'], options));

/**
 * When the data were saved last, in seconds since 1970.
 *
 * @example tsalt-ssh cache1 redis.lastsave
 */
export const lastsave = async (options: RedisOptions = {}): Promise<number> =>
  Number(await redisAsk(['LASTSAVE'], options));

/**
 * Whether the server answers; false when it cannot be reached.
 *
 * @example tsalt-ssh cache1 redis.ping
 */
export const ping = async (options: RedisOptions = {}): Promise<boolean> => {
  try {
    return (await redisAsk(['PING'], options)) === 'PONG';
  } catch (error) {
    if (error instanceof RedisError && error.unreachable) return false;
    throw error;
  }
};

/**
 * Saves the data, and waits for it.
 *
 * @example tsalt-ssh cache1 redis.save
 */
export const save = async (options: RedisOptions = {}): Promise<boolean> =>
  (await redisAsk(['SAVE'], options)) === 'OK';

/**
 * Saves the data and stops the server. False when it does not run, or still does after that.
 *
 * @example tsalt-ssh cache1 redis.shutdown
 */
export const shutdown = async (options: RedisOptions = {}): Promise<boolean> => {
  if (!(await ping(options))) return false;
  try {
    await redisAsk(['SHUTDOWN'], options);
  } catch (error) {
    // A server that stops closes the connection without an answer.
    if (!(error instanceof RedisError && error.unreachable)) throw error;
  }
  return !(await ping(options));
};

/**
 * Makes the server follow another one; without `master_host` it follows none any more.
 *
 * @param master_host the other server
 * @param master_port its port, 6379 unless named
 * @example tsalt-ssh cache2 redis.slaveof cache1 6379
 */
export const slaveof = async (
  master_host: string | null = null,
  master_port: number | string | null = null,
  options: RedisOptions = {},
): Promise<boolean> => {
  const words = master_host ? [master_host, master_port || 6379] : ['NO', 'ONE'];
  const answer = String(await redisAsk(['SLAVEOF', ...words], options));
  return answer.startsWith('OK');
};

/**
 * The server's time, in seconds since 1970.
 *
 * @example tsalt-ssh cache1 redis.time
 */
export const time = async (options: RedisOptions = {}): Promise<number> => {
  const answer = await redisAsk(['TIME'], options);
  return Number(Array.isArray(answer) ? answer[0] : answer);
};

/**
 * Where a sentinel says that a master is. What is not given comes from `redis_sentinel.*` of the configuration.
 *
 * @param master the name that the sentinel has for it
 * @param host the sentinel, `localhost` unless named
 * @param port its port, 26379 unless named
 * @param password its password
 * @example tsalt-ssh cache1 redis.sentinel_get_master_ip mymaster
 */
export const sentinel_get_master_ip = async (
  master: string,
  {
    host = null,
    port = null,
    password = null,
  }: { host?: string | null; port?: number | string | null; password?: string | null } = {},
): Promise<{ master_host: string; master_port: number }> => {
  const answer = await askAt(
    {
      host: host ?? (await configText('redis_sentinel.host')) ?? 'localhost',
      port: Number(port ?? (await configText('redis_sentinel.port')) ?? 26379),
      password: password ?? (await configText('redis_sentinel.password')),
    },
    ['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', master],
  );
  if (!Array.isArray(answer))
    throw new CommandExecutionError(`The sentinel knows no master ${master}.`);
  return { master_host: String(answer[0]), master_port: Number(answer[1]) };
};

/**
 * The server that this one follows; empty texts when it follows none.
 *
 * @example tsalt-ssh cache2 redis.get_master_ip
 */
export const get_master_ip = async (
  options: RedisOptions = {},
): Promise<{ master_host: string; master_port: number | string }> => {
  const { master_host = '', master_port = '' } = await info(options);
  return { master_host: String(master_host), master_port: master_port as number | string };
};
