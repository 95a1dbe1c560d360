import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { builtinMetadata } from '../../../src/bundle/metadata.ts';
import { bindArguments } from '../../../src/data/signatures/bind.ts';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import { kwargs, type StateReturn } from '../../../src/modules/api.ts';
import * as network from '../../../src/modules/network/exec/network/addresses.ts';
import * as hashes from '../../../src/modules/redis/exec/redis/hashes.ts';
import * as keys from '../../../src/modules/redis/exec/redis/keys.ts';
import * as server from '../../../src/modules/redis/exec/redis/server.ts';
import { infoOf } from '../../../src/modules/redis/redis-run.ts';
import { RespError, respCommand, respReader } from '../../../src/modules/redis/resp.ts';
import * as state from '../../../src/modules/redis/states/redis.ts';
import { openSignature } from '../../../src/protocol/meta.ts';
import { splitCall } from '../../../src/runtime/bind.ts';
import { nothing } from '../../helpers/nothing.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';
import { contextOf, testing, within } from '../../modules/_context.ts';

test('reads answers in any pieces', () => {
  const whole = Buffer.from('*4\r\n$3\r\na\r\n\r\n$-1\r\n:-7\r\n*2\r\n+OK\r\n*0\r\n:1\r\n+re');
  const answers = [['a\r\n', null, -7, ['OK', []]], 1];
  for (let size = 1; size <= whole.length; size++) {
    const read = respReader();
    const pieces = Array.from({ length: Math.ceil(whole.length / size) }, (_, at) =>
      whole.subarray(at * size, (at + 1) * size),
    );
    expect(pieces.flatMap(read)).toEqual(answers);
    expect(read(Buffer.from('st\r\n'))).toEqual(['rest']);
  }
  expect(respReader()(Buffer.from('-ERR no\r\n'))).toEqual([new RespError('ERR no')]);
  for (const other of ['HTTP/1.1 400 Bad Request\r\n', 'x'.repeat(70_000)])
    expect(() => respReader()(Buffer.from(other))).toThrow('not an answer');
  expect(respCommand(['SET', 'ä', 'x\r\ny']).toString()).toBe(
    '*3\r\n$3\r\nSET\r\n$2\r\nä\r\n$4\r\nx\r\ny\r\n',
  );
});

test('a long list in many pieces is read once', { timeout: 60_000 }, () => {
  const list = Array.from({ length: 200_000 }, (_, at) => `key ${at}`);
  const bytes = respCommand(list);
  const read = respReader();
  const answers: unknown[] = [];
  for (let at = 0; at < bytes.length; at += 1000)
    answers.push(...read(bytes.subarray(at, at + 1000)));
  expect(answers).toEqual([list]);
});

test("reads a server's information about itself", () => {
  expect(
    infoOf(
      '# Server\r\nredis_version:7.0.15\r\nport:6379\r\nratio:1.5\r\nid:12e45\r\ndb0:keys=1,avg_ttl=0\r\n',
    ),
  ).toEqual({
    redis_version: '7.0.15',
    port: 6379,
    ratio: 1.5,
    id: '12e45',
    db0: { keys: 1, avg_ttl: 0 },
  });
});

const freePort = (): Promise<number> =>
  new Promise(resolve => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });

const missing = which('redis-server') === undefined ? ' (needs redis-server)' : '';

describe.skipIf(missing)(`real Redis servers${missing}`, { timeout: 240_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'tsalt-redis-'));
  const password = 'se cr"et';
  const running: ChildProcess[] = [];
  let where: { host: string; port: number; password: string };
  const context = contextOf({ redis: { ...hashes, ...keys, ...server }, network });
  // The others receive their arguments as in JavaScript; here the words come before the options.
  const signatures = builtinMetadata()
    .filter(({ kind, file }) => kind === 'exec' && file.startsWith('redis'))
    .flatMap(({ functions }) => functions);
  const bound = (fun: string, work: (...values: never[]) => Promise<unknown>) => {
    const signature = signatures.find(({ name }) => name === fun)?.signature ?? openSignature;
    return (...given: unknown[]) => {
      const call = splitCall(signature, given);
      const found = bindArguments(`redis.${fun}`, signature, call.args, call.kwargs);
      if (!found.ok) throw new Error(found.message);
      return work(...(found.values as never[]));
    };
  };
  const functions = context.salt as { [name: string]: (...given: unknown[]) => unknown };
  functions['redis.delete'] = bound('delete', keys.delete_);

  const start = async (file: string, ...words: string[]): Promise<number> => {
    const port = await freePort();
    const config = join(folder, `${port}.conf`);
    writeFileSync(config, `port ${port}\nbind 127.0.0.1\ndir ${folder}\n${file}\n`);
    running.push(spawn('redis-server', [config, ...words], { stdio: 'ignore' }));
    return port;
  };
  const up = (place: { host: string; port: number; password?: string }) =>
    vi.waitFor(async () => expect(await within(context, () => server.ping(place))).toBe(true), {
      timeout: 120_000,
      interval: 100,
    });

  beforeAll(async () => {
    const port = await start(`requirepass "se cr\\"et"\nsave ""`);
    where = { host: '127.0.0.1', port, password };
    await up(where);
  }, 240_000);
  beforeEach(() => within(context, () => server.flushall(where)));
  afterAll(async () => {
    for (const child of running) {
      const ended = new Promise(resolve => child.once('exit', resolve));
      if (child.exitCode === null && child.kill('SIGKILL')) await ended;
    }
    removeFolder(folder);
  });

  const settles = async (work: () => Promise<StateReturn>): Promise<StateReturn> => {
    const told = await within(testing(context), work);
    expect(told, String(told.comment)).toMatchObject({ result: null });
    const done = await within(context, work);
    expect(done, String(done.comment)).toMatchObject({ result: true, changes: told.changes });
    expect(await within(context, work)).toMatchObject({ result: true, changes: nothing });
    return done;
  };

  test('keys hold their texts, whatever is in them', async () => {
    for (const value of ['', 'a b', 'x\r\ny', 'ä"\'', '7']) {
      expect(await settles(() => state.string('k', `${value}!`, where))).toMatchObject({
        comment: 'Key updated to new value',
        changes: { k: 'Value updated' },
      });
      expect(await within(context, () => keys.get_key('k', where))).toBe(`${value}!`);
    }
    await settles(() => state.string('k', 'other', { ...where, db: 3 }));
    expect(await within(context, () => keys.get_key('k', where))).toBe('7!');
  });

  test('an end is set in every run', async () => {
    const work = () => state.string('k', 'v', { ...where, expire: 300 });
    await within(context, work);
    expect(await within(context, work)).toEqual({
      name: 'k',
      result: true,
      comment: 'Key already set to defined value',
      changes: { expire: 'TTL set to 300 seconds' },
    });
    const at = { ...where, expire: 300, expireat: 4_000_000_000 };
    expect(await within(context, () => state.string('k', 'v', at))).toMatchObject({
      changes: { expireat: 'Key expires at 4000000000' },
    });
    expect(await within(context, () => keys.expireat('k', 1, where))).toBe(true);
    expect(await within(context, () => keys.exists('k', where))).toBe(0);
    expect(await within(context, () => keys.expire('k', 9, where))).toBe(false);
  });

  test('removes keys', async () => {
    for (const key of ['a', 'b', 'c']) await within(context, () => keys.set_key(key, 'x', where));
    expect(await settles(() => state.absent('a', where))).toMatchObject({
      comment: 'Key deleted',
      changes: { deleted: ['a'] },
    });
    expect(
      await settles(() => state.absent('-', { ...where, keys: ['b', 'none', 'c'] })),
    ).toMatchObject({ comment: 'Keys deleted', changes: { deleted: ['b', 'c'] } });
    expect(await within(context, () => server.dbsize(where))).toBe(0);
  });

  test('fields of hashes', async () => {
    const h = { ...where };
    await within(context, async () => {
      expect(await hashes.hmset('h', { ...h, f: 'v', n: 5, d: 1.5 })).toBe(true);
      expect(await hashes.hgetall('h', h)).toEqual({ f: 'v', n: '5', d: '1.5' });
      expect(await hashes.hincrby('h', 'n', 2, h)).toBe(7);
      expect(await hashes.hincrbyfloat('h', 'd', 1.25, h)).toBe(2.75);
      expect(await hashes.hset('h', 'f', 'w', h)).toBe(0);
      expect(await hashes.hsetnx('h', 'new', 'w', h)).toBe(1);
      expect(await hashes.hexists('h', 'none', h)).toBe(false);
      expect(await hashes.hget('h', 'none', h)).toBe(null);
      expect(await hashes.hmget('h', h, 'f', 'none')).toEqual(['w', null]);
      expect(await hashes.hscan('h', 0, 'n*', null, h)).toEqual([0, { n: '7', new: 'w' }]);
      expect(await hashes.hdel('h', h, 'f', 'none')).toBe(1);
      expect(await hashes.hlen('h', h)).toBe(3);
      expect(await bound('hmget', hashes.hmget)('h', 'd', 'none', kwargs(h))).toEqual([
        '2.75',
        null,
      ]);
      expect(await bound('hdel', hashes.hdel)('h', 'd', kwargs(h))).toBe(1);
      await expect(hashes.hmset('h', h)).rejects.toThrow('needs fields');
      await expect(hashes.hmset('h', { ...h, f: [1] })).rejects.toThrow('texts and numbers');
    });
  });

  test('faults say where and what, and no password', async () => {
    const at = `Redis at 127.0.0.1:${where.port}`;
    const get = (place: object) => within(context, () => keys.get_key('k', place));
    await expect(get({ ...where, password: 'wrong1' })).rejects.toThrow(
      new RegExp(`^${at}: WRONGPASS (?!.*wrong1)`),
    );
    await expect(get({ ...where, password: null })).rejects.toThrow(`${at}: NOAUTH`);
    await within(context, () => hashes.hset('k', 'f', 'v', where));
    await expect(get(where)).rejects.toThrow(`${at}: WRONGTYPE`);
    const nobody = { host: '127.0.0.1', port: await freePort() };
    await expect(get(nobody)).rejects.toThrow(/^Redis at 127\.0\.0\.1:\d+: connect ECONNREFUSED/);
    expect(await within(context, () => state.string('k', 'v', nobody))).toMatchObject({
      result: false,
      comment: expect.stringContaining('ECONNREFUSED'),
    });
    expect(await within(context, () => server.ping(nobody))).toBe(false);
    expect(await within(context, () => server.shutdown(nobody))).toBe(false);
  });

  test('a command that the server does not know is reported without its values', async () => {
    const strict = { host: '127.0.0.1', port: await start('save ""\nrename-command CONFIG ""') };
    await up(strict);
    const set = within(context, () => server.config_set('requirepass', 'geheim1', strict));
    await expect(set).rejects.toThrow(/: ERR unknown command '?`?CONFIG'?`?$/);
  });

  test('settings and times of the server', async () => {
    await within(context, async () => {
      expect(await server.config_set('maxmemory', '100mb', where)).toBe(true);
      expect(await server.config_get('maxmemory', where)).toEqual({ maxmemory: '104857600' });
      await expect(server.config_set('nosuch', '1', where)).rejects.toThrow('Redis at');
      expect(Math.abs((await server.time(where)) - Date.now() / 1000)).toBeLessThan(60);
      expect(await server.info(where)).toMatchObject({ tcp_port: where.port, role: 'master' });
      expect(await server.get_master_ip(where)).toEqual({ master_host: '', master_port: '' });
    });
  });

  test('a server follows the master of a sentinel', async () => {
    const pass = 'masterauth "se cr\\"et"';
    const sentinel = await start(
      `sentinel monitor prime 127.0.0.1 ${where.port} 1\nsentinel auth-pass prime "se cr\\"et"`,
      '--sentinel',
    );
    const follower = { host: '127.0.0.1', port: await start(`save ""\n${pass}`) };
    await up(follower);
    await up({ host: '127.0.0.1', port: sentinel });
    const master = { master_host: '127.0.0.1', master_port: where.port };
    const at = { sentinel_host: '127.0.0.1', sentinel_port: sentinel };
    const work = () => state.slaveof('prime', { ...at, ...follower });
    expect(await settles(work)).toEqual({
      name: 'prime',
      result: true,
      comment: 'Minion successfully connected to master: prime',
      changes: { old: { master_host: '', master_port: '' }, new: master },
    });
    expect(
      await within(context, () => state.slaveof('other', { ...at, ...follower })),
    ).toMatchObject({ result: false, comment: 'The sentinel knows no master other.' });
    expect(await within(context, () => server.slaveof(null, null, follower))).toBe(true);
    expect(await within(context, () => server.get_master_ip(follower))).toMatchObject({
      master_host: '',
    });
    expect(await within(context, () => server.shutdown(follower))).toBe(true);
  });
});
