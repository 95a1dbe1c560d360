import { connect, type Socket } from 'node:net';
import { messageOf } from '../../protocol/error.ts';
import { configText } from '../_shared/states/config-option.ts';
import { plainStr } from '../_shared/text/python-text.ts';
import { CommandExecutionError, type Plain, SaltInvocationError } from '../api.ts';
import { RespError, type RespValue, respCommand, respReader } from './resp.ts';

/** How a Redis server is reached; what is missing comes from `redis.*` of the configuration. */
export type RedisOptions = {
  /** The server, or the path of its socket; `salt` unless named, as in Salt. */
  host?: string | null;
  /** The server's port, 6379 unless named. */
  port?: number | string | null;
  /** The number of the database, 0 unless named. */
  db?: number | string | null;
  /** The password. */
  password?: string | null;
};

/** The address and login of a server, after the configuration has filled in what was missing. */
export type RedisServer = {
  readonly host: string;
  readonly port: number;
  readonly db?: string | undefined;
  readonly password?: string | undefined;
};

/** The server's complaint, or that it could not be reached. */
export class RedisError extends CommandExecutionError {
  /** True: there was nobody to ask. */
  readonly unreachable: boolean;

  constructor(message: string, unreachable = false) {
    super(message);
    this.unreachable = unreachable;
  }
}

const connectTimeout = 10_000;

/**
 * Asks a server one thing. Nothing of it is in the list of processes: no program is run.
 *
 * @throws RedisError
 */
export const redisAsk = async (
  words: readonly Plain[],
  options: RedisOptions = {},
): Promise<RespValue> => askAt(await placeOf(options), words);

const placeOf = async ({ host, port, db, password }: RedisOptions): Promise<RedisServer> => ({
  host: host || (await configText('redis.host')) || 'salt',
  port: Number(port || (await configText('redis.port')) || 6379),
  db: db ? String(db) : await configText('redis.db'),
  password: password || (await configText('redis.password')),
});

/** Like `redisAsk`, for a server that is already resolved. */
export const askAt = async (place: RedisServer, words: readonly Plain[]): Promise<RespValue> => {
  const { password, db } = place;
  const before = [
    ...(password ? [['AUTH', password]] : []),
    ...(db && db !== '0' ? [['SELECT', db]] : []),
  ];
  const commands = [...before, words.map(wordOf)];
  const where = place.host.startsWith('/') ? place.host : `${place.host}:${place.port}`;
  const answers = await talk(place, commands).catch(error => {
    throw new RedisError(`Redis at ${where}: ${messageOf(error)}.`, true);
  });
  for (const answer of answers)
    if (answer instanceof RespError)
      throw new RedisError(`Redis at ${where}: ${withoutArguments(answer.message)}`);
  return answers.at(-1) ?? null;
};

/** To a command that it does not know the server also says what stands behind it: a password, a value. */
const withoutArguments = (message: string): string =>
  message.replace(/^(ERR unknown (?:sub)?command.*?),? with args beginning with: .*$/s, '$1');

const wordOf = (word: Plain): string => {
  if (typeof word === 'string' || typeof word === 'number') return plainStr(word);
  const kind = Array.isArray(word) ? 'lists' : word === null ? 'nothing' : `${typeof word}s`;
  throw new SaltInvocationError(`Redis keeps texts and numbers, not ${kind}.`);
};

/** The answers to all commands. One that fails ends it: what follows is not asked any more. */
const talk = (
  place: RedisServer,
  commands: readonly (readonly string[])[],
): Promise<readonly RespValue[]> =>
  new Promise((resolve, reject) => {
    const { host, port } = place;
    const socket: Socket = host.startsWith('/') ? connect(host) : connect(port, host);
    const answers: RespValue[] = [];
    const read = respReader();
    const end = (error?: Error): void => {
      socket.destroy();
      if (error) reject(error);
      else resolve(answers);
    };
    const ask = (): void => {
      socket.write(respCommand(commands[answers.length] ?? []));
    };
    socket.setTimeout(connectTimeout, () => end(new Error('It does not answer')));
    socket.once('connect', () => {
      socket.setTimeout(0);
      ask();
    });
    socket.on('data', chunk => {
      try {
        const whole = read(chunk);
        if (whole.length === 0) return;
        answers.push(...whole);
      } catch (error) {
        end(error as Error);
        return;
      }
      if (answers.length >= commands.length || answers.at(-1) instanceof RespError) end();
      else ask();
    });
    socket.once('error', end);
    socket.once('close', () => end(new Error('It closed the connection')));
  });

/** Names and values that follow one another, as a dict. */
export const replyPairs = (answer: RespValue): { [name: string]: string } => {
  const items = (answer ?? []) as string[];
  return Object.fromEntries(
    items.flatMap((name, at) => (at % 2 === 0 ? [[name, items[at + 1] ?? '']] : [])),
  );
};

/** `INFO` as a dict: numbers are numbers, `keys=1,expires=0` is a dict. */
export const infoOf = (answer: RespValue): { [name: string]: Plain } => {
  const lines = String(answer)
    .split(/\r?\n/)
    .filter(line => line.includes(':') && !line.startsWith('#'))
    .map(line => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)] as const);
  const modules = lines.filter(([name]) => name === 'module').map(([, value]) => infoValue(value));
  return {
    ...Object.fromEntries(
      lines.filter(([name]) => name !== 'module').map(([name, value]) => [name, infoValue(value)]),
    ),
    ...(modules.length > 0 ? { modules } : {}),
  };
};

const infoValue = (text: string): Plain => {
  if (text.includes(',') && text.includes('='))
    return Object.fromEntries(
      text.split(',').map(item => {
        const at = item.lastIndexOf('=');
        return [item.slice(0, Math.max(at, 0)), infoValue(item.slice(at + 1))];
      }),
    );
  // An id may be all digits but for one `e`.
  return /^[+-]?(?:\d+|(?:\d+\.\d*|\.\d+)(?:e[+-]?\d+)?)$/i.test(text) ? Number(text) : text;
};
