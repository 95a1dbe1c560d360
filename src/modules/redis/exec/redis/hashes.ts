import { type Plain, SaltInvocationError } from '../../../api.ts';
import { type RedisOptions, redisAsk, replyPairs } from '../../redis-run.ts';

/**
 * Removes fields of a hash; returns how many there were.
 *
 * @param key the key
 * @param fields the fields
 * @example tsalt-ssh cache1 redis.hdel foo_hash bar_field1 bar_field2
 */
export const hdel = async (
  key: string,
  { ...where }: RedisOptions,
  ...fields: string[]
): Promise<number> => Number(await redisAsk(['HDEL', key, ...fields], where));

/**
 * Whether a hash has a field.
 *
 * @param key the key
 * @param field the field
 * @example tsalt-ssh cache1 redis.hexists foo_hash bar_field
 */
export const hexists = async (
  key: string,
  field: string,
  options: RedisOptions = {},
): Promise<boolean> => (await redisAsk(['HEXISTS', key, field], options)) === 1;

/**
 * A field of a hash; null when it is not there.
 *
 * @param key the key
 * @param field the field
 * @example tsalt-ssh cache1 redis.hget foo_hash bar_field
 */
export const hget = async (
  key: string,
  field: string,
  options: RedisOptions = {},
): Promise<string | null> => (await redisAsk(['HGET', key, field], options)) as string | null;

/**
 * A hash as a dict.
 *
 * @param key the key
 * @example tsalt-ssh cache1 redis.hgetall foo_hash
 */
export const hgetall = async (
  key: string,
  options: RedisOptions = {},
): Promise<{ [field: string]: string }> => replyPairs(await redisAsk(['HGETALL', key], options));

/**
 * Adds to a field that is an integer; returns the sum.
 *
 * @param key the key
 * @param field the field
 * @param increment the number to add
 * @example tsalt-ssh cache1 redis.hincrby foo_hash bar_field 5
 */
export const hincrby = async (
  key: string,
  field: string,
  increment = 1,
  options: RedisOptions = {},
): Promise<number> => Number(await redisAsk(['HINCRBY', key, field, increment], options));

/**
 * Adds to a field that is a number; returns the sum.
 *
 * @param key the key
 * @param field the field
 * @param increment the number to add
 * @example tsalt-ssh cache1 redis.hincrbyfloat foo_hash bar_field 5.17
 */
export const hincrbyfloat = async (
  key: string,
  field: string,
  increment = 1.0,
  options: RedisOptions = {},
): Promise<number> => Number(await redisAsk(['HINCRBYFLOAT', key, field, increment], options));

/**
 * How many fields a hash has.
 *
 * @param key the key
 * @example tsalt-ssh cache1 redis.hlen foo_hash
 */
export const hlen = async (key: string, options: RedisOptions = {}): Promise<number> =>
  Number(await redisAsk(['HLEN', key], options));

/**
 * Fields of a hash; null for each that is not there.
 *
 * @param key the key
 * @param fields the fields
 * @example tsalt-ssh cache1 redis.hmget foo_hash bar_field1 bar_field2
 */
export const hmget = async (
  key: string,
  { ...where }: RedisOptions,
  ...fields: string[]
): Promise<Plain> => (await redisAsk(['HMGET', key, ...fields], where)) as Plain;

/**
 * Sets fields of a hash.
 *
 * @param key the key
 * @example tsalt-ssh cache1 redis.hmset foo_hash bar_field1=bar_value1 bar_field2=bar_value2
 */
export const hmset = async (
  key: string,
  {
    host = null,
    port = null,
    db = null,
    password = null,
    ...fields
  }: RedisOptions & { [field: string]: Plain | undefined } = {},
): Promise<boolean> => {
  const words = Object.entries(fields)
    .filter(([name]) => !name.startsWith('__'))
    .flatMap(([name, value]) => [name, value ?? null]);
  if (words.length === 0) throw new SaltInvocationError('redis.hmset needs fields: name=value');
  return (await redisAsk(['HMSET', key, ...words], { host, port, db, password })) === 'OK';
};

/**
 * Sets a field of a hash; returns 1 when it is new, else 0.
 *
 * @param key the key
 * @param field the field
 * @param value its value
 * @example tsalt-ssh cache1 redis.hset foo_hash bar_field bar_value
 */
export const hset = async (
  key: string,
  field: string,
  value: string,
  options: RedisOptions = {},
): Promise<number> => Number(await redisAsk(['HSET', key, field, value], options));

/**
 * Sets a field of a hash unless it exists; returns 1 when it was set, else 0.
 *
 * @param key the key
 * @param field the field
 * @param value its value
 * @example tsalt-ssh cache1 redis.hsetnx foo_hash bar_field bar_value
 */
export const hsetnx = async (
  key: string,
  field: string,
  value: string,
  options: RedisOptions = {},
): Promise<number> => Number(await redisAsk(['HSETNX', key, field, value], options));

/**
 * The values of a hash.
 *
 * @param key the key
 * @example tsalt-ssh cache1 redis.hvals foo_hash
 */
export const hvals = async (key: string, options: RedisOptions = {}): Promise<Plain> =>
  (await redisAsk(['HVALS', key], options)) as Plain;

/**
 * Some fields of a hash, and from where to ask for further ones: 0 when these were the last.
 *
 * @param key the key
 * @param cursor from where
 * @param match a glob for the fields
 * @param count about how many
 * @example tsalt-ssh cache1 redis.hscan foo_hash match='field_prefix_*' count=1
 */
export const hscan = async (
  key: string,
  cursor = 0,
  match: string | null = null,
  count: number | null = null,
  options: RedisOptions = {},
): Promise<[number, { [field: string]: string }]> => {
  const words = [
    ...(match === null ? [] : ['MATCH', match]),
    ...(count === null ? [] : ['COUNT', count]),
  ];
  const answer = await redisAsk(['HSCAN', key, cursor, ...words], options);
  const [next, pairs] = Array.isArray(answer) ? answer : [0, []];
  return [Number(next), replyPairs(pairs ?? [])];
};
