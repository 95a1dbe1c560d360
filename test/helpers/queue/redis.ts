import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants, mkdtempSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { removeFolder } from '../remove-folder.ts';

const program = '/usr/bin/redis-server';

/** Whether Debian's redis-server is there; tests that need it are skipped by name otherwise. */
export const hasRedis = ((): boolean => {
  try {
    accessSync(program, constants.X_OK);
    return true;
  } catch {
    return false;
  }
})();

/** A Redis of its own on a free port of the loopback. */
export type TestRedis = {
  readonly url: string;
  readonly port: number;
  readonly dir: string;
  readonly client: Redis;
  /** Kills it at once, and starts it again with what it has on disk. */
  readonly restart: () => Promise<void>;
  readonly close: () => Promise<void>;
};

/** @param args more arguments of redis-server */
export const startRedis = async (...args: string[]): Promise<TestRedis> => {
  const dir = mkdtempSync(join(tmpdir(), 'tsalt-redis-'));
  const port = await freePort();
  const start = async (): Promise<ChildProcess> => {
    const child = spawn(
      program,
      ['--port', String(port), '--bind', '127.0.0.1', '--dir', dir, '--appendonly', 'yes', ...args],
      { stdio: 'ignore' },
    );
    await answers(port);
    return child;
  };
  let child = await start();
  const client = new Redis({ port, host: '127.0.0.1', maxRetriesPerRequest: null });
  client.on('error', () => undefined);
  const ended = (): Promise<void> =>
    new Promise(resolve => {
      if (child.exitCode !== null || child.signalCode !== null) resolve();
      else child.once('exit', () => resolve());
      child.kill('SIGKILL');
    });
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    dir,
    client,
    restart: async () => {
      await ended();
      child = await start();
    },
    close: async () => {
      client.disconnect();
      await ended();
      removeFolder(dir);
    },
  };
};

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });

const answers = async (port: number): Promise<void> => {
  const redis = new Redis({ port, host: '127.0.0.1', retryStrategy: () => 50 });
  redis.on('error', () => undefined);
  await redis.ping();
  redis.disconnect();
};
