import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { ArtifactCode } from '../../protocol/artifact.ts';
import { onAbort } from '../../protocol/on-abort.ts';
import { artifactHead, artifactTail } from '../../protocol/stack.ts';
import { sha256 } from '../inputs.ts';
import type { CachePaths } from './cache-paths.ts';

/**
 * Milliseconds that the end of a run waits at most. Making the code takes some 200, most of which
 * pass while the first host compiles the artifact itself.
 */
const patience = 1000;

/**
 * Compiles the head of an artifact as the loader does, in a process of its own: runs set flags of
 * V8, which refuses code made under other flags. Checks the hash, because V8 compares only the length
 * of the text. The code contains the file name, which must not show hosts a path of this machine.
 */
const maker = `
const [, file, sha, head, tail] = process.argv;
const hash = data => require('node:crypto').createHash('sha256').update(data).digest();
const text = require('node:fs').readFileSync(file);
if (hash(text).toString('hex') !== sha) process.exit(1);
const { Script } = require('node:vm');
const size = Number(text.toString('latin1', 2, 12)) || text.length;
const code = head + text.subarray(0, size) + tail;
const data = new Script(code, { filename: sha + '.js' }).createCachedData();
const { brotliCompressSync, constants } = require('node:zlib');
const params = { [constants.BROTLI_PARAM_QUALITY]: 5 };
process.stdout.write(brotliCompressSync(Buffer.concat([hash(data), data]), { params }));
`;

/**
 * Returns a hash of what the V8 of this process is. Builds of the same version may differ, and V8
 * does not notice each difference.
 */
export const engineHash = (): string => sha256(JSON.stringify([process.versions, process.config]));

/**
 * Returns the code cache of an artifact, as a file beside its other ones.
 *
 * @param write keeps a file, if that is possible
 */
export const codeCacheOf = (
  sha: string,
  { js, code }: Pick<CachePaths, 'js' | 'code'>,
  write: (path: string, content: Uint8Array) => Promise<void>,
): ArtifactCode => {
  let known: Promise<Uint8Array | undefined> | undefined;
  let making: Making | undefined;
  let isOver = false;
  const begin = (path: string): void => {
    if (isOver) return;
    const { made, stop } = startMaking(js, sha);
    const kept = made.then(async bytes => {
      if (!bytes) return;
      known = Promise.resolve(bytes);
      await write(path, bytes).catch(() => undefined);
    });
    making = { made: kept, stop };
  };
  return {
    take: async engine => {
      const own = engineHash();
      if (engine !== own) return undefined;
      const path = `${code}-${own.slice(0, 32)}`;
      known ??= readFile(path).catch(() => {
        begin(path);
        return undefined;
      });
      return known;
    },
    finish: async signal => {
      isOver = true;
      if (!making) return;
      const { made, stop } = making;
      const release = onAbort(signal, stop);
      const timer = setTimeout(stop, patience);
      await made;
      clearTimeout(timer);
      release();
    },
  };
};

type Making<T = void> = { readonly made: Promise<T>; readonly stop: () => void };

/** Starts making a code cache. The result is undefined if that fails: a run does without it. */
const startMaking = (js: string, sha: string): Making<Uint8Array | undefined> => {
  const args = ['-e', maker, resolve(js), sha, artifactHead, artifactTail];
  const { LD_LIBRARY_PATH, DYLD_LIBRARY_PATH } = process.env;
  const options = {
    encoding: 'buffer',
    cwd: '/',
    // Without NODE_OPTIONS, which may set flags of V8.
    env: { LD_LIBRARY_PATH, DYLD_LIBRARY_PATH },
    maxBuffer: 64 * 1024 * 1024,
  } as const;
  let stop = (): void => undefined;
  const made = new Promise<Uint8Array | undefined>(settle => {
    const child = execFile(process.execPath, args, options, (error, stdout) => {
      process.off('exit', stop);
      settle(error ? undefined : stdout);
    });
    stop = () => void child.kill('SIGKILL');
    process.once('exit', stop);
  }).catch(() => undefined);
  return { made, stop };
};
