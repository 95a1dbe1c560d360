/**
 * Redis, spoken to by its own protocol: no program and no library is needed.
 */
import type { Plain } from '../../../api.ts';
import { type RedisOptions, redisAsk } from '../../redis-run.ts';

export const __func_alias__ = { delete_: 'delete' };

/**
 * Removes keys; returns how many there were.
 *
 * @param keys the keys
 * @example tsalt-ssh cache1 redis.delete foo bar
 */
export const delete_ = async ({ ...where }: RedisOptions, ...keys: string[]): Promise<number> =>
  Number(await redisAsk(['DEL', ...keys], where));

/**
 * Whether there is a key: 1 or 0.
 *
 * @param key the key
 * @example tsalt-ssh cache1 redis.exists foo
 */
export const exists = async (key: string, options: RedisOptions = {}): Promise<number> =>
  Number(await redisAsk(['EXISTS', key], options));

/**
 * Sets a time after which a key expires; false if the key does not exist.
 *
 * @param key the key
 * @param seconds the time
 * @example tsalt-ssh cache1 redis.expire foo 300
 */
export const expire = async (
  key: string,
  seconds: number,
  options: RedisOptions = {},
): Promise<boolean> => (await redisAsk(['EXPIRE', key, seconds], options)) === 1;

/**
 * Sets a time at which a key expires; false if the key does not exist.
 *
 * @param key the key
 * @param timestamp seconds since 1970
 * @example tsalt-ssh cache1 redis.expireat foo 1400000000
 */
export const expireat = async (
  key: string,
  timestamp: number,
  options: RedisOptions = {},
): Promise<boolean> => (await redisAsk(['EXPIREAT', key, timestamp], options)) === 1;

/**
 * Returns the string of a key; null if the key does not exist.
 *
 * @param key the key
 * @example tsalt-ssh cache1 redis.get_key foo
 */
export const get_key = async (key: string, options: RedisOptions = {}): Promise<string | null> =>
  (await redisAsk(['GET', key], options)) as string | null;

/**
 * Sets a key to a string.
 *
 * @param key the key
 * @param value the text
 * @example tsalt-ssh cache1 redis.set_key foo bar
 */
export const set_key = async (
  key: string,
  value: string,
  options: RedisOptions = {},
): Promise<boolean> => (await redisAsk(['SET', key, value], options)) === 'OK';

/**
 * The keys that fit a glob.
 *
 * @param pattern the glob
 * @example tsalt-ssh cache1 redis.keys 'session:*'
 */
export const keys = async (pattern = '*', options: RedisOptions = {}): Promise<string[]> =>
  (await redisAsk(['KEYS', pattern], options)) as string[];

/**
 * Returns the type of a key: `string`, `list`, `hash`, `set`, `zset`, or `none`.
 *
 * @param key the key
 * @example tsalt-ssh cache1 redis.key_type foo
 */
export const key_type = async (key: string, options: RedisOptions = {}): Promise<string> =>
  String(await redisAsk(['TYPE', key], options));

/**
 * How long a list is.
 *
 * @param key the key
 * @example tsalt-ssh cache1 redis.llen foo
 */
export const llen = async (key: string, options: RedisOptions = {}): Promise<number> =>
  Number(await redisAsk(['LLEN', key], options));

/**
 * Values of a list.
 *
 * @param key the key
 * @param start the first place, from 0; negative ones count from the end
 * @param stop the last place
 * @example tsalt-ssh cache1 redis.lrange foo 0 10
 */
export const lrange = async (
  key: string,
  start: number,
  stop: number,
  options: RedisOptions = {},
): Promise<Plain> => (await redisAsk(['LRANGE', key, start, stop], options)) as Plain;

/**
 * The members of a set.
 *
 * @param key the key
 * @example tsalt-ssh cache1 redis.smembers foo
 */
export const smembers = async (key: string, options: RedisOptions = {}): Promise<Plain> =>
  (await redisAsk(['SMEMBERS', key], options)) as Plain;

/**
 * How many members a sorted set has.
 *
 * @param key the key
 * @example tsalt-ssh cache1 redis.zcard foo
 */
export const zcard = async (key: string, options: RedisOptions = {}): Promise<number> =>
  Number(await redisAsk(['ZCARD', key], options));

/**
 * Members of a sorted set, by their order.
 *
 * @param key the key
 * @param start the first place, from 0; negative ones count from the end
 * @param stop the last place
 * @example tsalt-ssh cache1 redis.zrange foo 0 10
 */
export const zrange = async (
  key: string,
  start: number,
  stop: number,
  options: RedisOptions = {},
): Promise<Plain> => (await redisAsk(['ZRANGE', key, start, stop], options)) as Plain;
