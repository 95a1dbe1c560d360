import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot, tsalt } from '../cli.ts';

const ownBin = join(packageRoot, 'dist/tsalt-ssh.cjs');

/** A worker of a segment, as an operator starts it. */
export type TestWorker = {
  readonly key: string;
  readonly dir: string;
  readonly process: ChildProcess;
  /** Its log so far. */
  readonly log: () => string;
  /** Ends it, and resolves when it has gone. */
  readonly end: (signal?: NodeJS.Signals) => Promise<void>;
};

type Settings = {
  /** A folder for its home. */
  readonly dir: string;
  readonly name: string;
  readonly queue: string;
  /** The public key of the control node. */
  readonly control: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Another build of the program. */
  readonly bin?: string;
  /** The words before it, such as those that enter a network of its own. */
  readonly enter?: readonly string[];
};

/** Prints the public key of a worker, which makes it where there is none. */
export const workerKeyOf = async (dir: string, name: string): Promise<string> => {
  mkdirSync(dir, { recursive: true });
  const { stdout } = await tsalt(
    ['worker', 'key', '--name', name, '--worker-dir', join(dir, name)],
    {
      cwd: dir,
    },
  );
  return stdout.trim();
};

/** Starts a worker; resolves when it takes jobs. */
export const startWorker = async (settings: Settings): Promise<TestWorker> => {
  const { dir, name, queue, control, args = [], env = {}, bin = ownBin, enter = [] } = settings;
  const key = await workerKeyOf(dir, name);
  const [program = '', ...words] = [...enter, process.execPath];
  const child = spawn(
    program,
    [
      ...words,
      bin,
      'worker',
      ...['--name', name, '--worker-dir', join(dir, name), '--control', control],
      ...args,
    ],
    {
      cwd: dir,
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, HOME: dir, SSH_AUTH_SOCK: '', TSALT_QUEUE: queue, ...env },
    },
  );
  let log = '';
  const ended = new Promise<void>(resolve => child.once('exit', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      log += text;
      if (log.includes('Worker of the segment')) resolve();
    });
    child.once('exit', code => reject(new Error(`the worker ended with ${code}: ${log}`)));
  });
  return {
    key,
    dir,
    process: child,
    log: () => log,
    end: async (signal = 'SIGTERM') => {
      child.kill(signal);
      await ended;
    },
  };
};
