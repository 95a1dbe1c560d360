import { createReadStream, fstatSync, readSync, type Stats, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { openWriteQueue } from '../protocol/write-queue.ts';

/** The process's stdin and stdout as a raw byte channel; no other code may use them. */
export type Wire = {
  /** Writes bytes; resolves when the other side accepts more. */
  readonly write: (bytes: Uint8Array) => Promise<void> | undefined;
  /** Calls `onBytes` for received bytes, and `onEnd` once at the end. */
  readonly read: (onBytes: (bytes: Uint8Array) => void, onEnd: () => void) => void;
  /**
   * Stops the process until bytes arrive, and returns them: at most 64 KiB, none at the end of the
   * wire. Returns undefined if it can only be read by `read`.
   */
  readonly readFirst: () => Uint8Array | undefined;
  /** Flushes the queue before code that may block the event loop. */
  readonly push: () => void;
  /** Resolves when everything was written. */
  readonly flush: () => Promise<void>;
  /** Compresses what is written from now on. */
  readonly compress: () => void;
};

/** The most bytes that are written without a stream: less than a pipe of any system holds. */
const mostAtOnce = 32 * 1024;

/**
 * Opens fd 0 and 1. Streams are made for them when `read` is called, or when they must take more
 * than a short answer: Node loads 30 files for streams and sockets, which takes as long as all the
 * rest of a short call.
 */
export const openWire = (): Wire => {
  let opened: Streams | undefined;
  const streams = (): Streams => {
    opened ??= openStreams();
    return opened;
  };
  const queue = openWriteQueue(bytes => {
    if (opened) opened.write(bytes);
    else if (bytes.length > mostAtOnce || !isPipe(fstatSync(1))) streams().write(bytes);
    else writeAtOnce(bytes, rest => streams().write(rest));
  });
  return {
    write: bytes => {
      if (opened?.isGone()) return undefined;
      queue.add(bytes);
      return opened?.drained();
    },
    read: (onBytes, onEnd) => {
      let ended = false;
      const end = (): void => {
        if (ended) return;
        ended = true;
        onEnd();
      };
      const { input } = streams();
      for (const event of ['end', 'error', 'close']) input.on(event, end);
      input.on('data', onBytes);
    },
    readFirst,
    push: queue.flush,
    flush: () => {
      queue.flush();
      return opened?.flush() ?? Promise.resolve();
    },
    compress: queue.compress,
  };
};

const readFirst = (): Uint8Array | undefined => {
  if (!isPipe(fstatSync(0))) return undefined;
  const bytes = Buffer.allocUnsafe(64 * 1024);
  try {
    return bytes.subarray(0, readSync(0, bytes));
  } catch {
    // It does not block (EAGAIN), or fails again when it is read as a stream.
    return undefined;
  }
};

/** Writes to stdout, and passes on what it does not take. */
const writeAtOnce = (bytes: Uint8Array, later: (rest: Uint8Array) => void): void => {
  let at = 0;
  try {
    while (at < bytes.length) at += writeSync(1, bytes, at);
  } catch {
    later(bytes.subarray(at));
  }
};

type Streams = {
  readonly input: Readable;
  readonly isGone: () => boolean;
  readonly write: (bytes: Uint8Array) => void;
  /** Resolves when the output accepts more; undefined if it does now. */
  readonly drained: () => Promise<void> | undefined;
  readonly flush: () => Promise<void>;
};

/**
 * `process.stdin` is avoided if possible: it adds 6 ms to the start and would make the channel
 * reachable for every module.
 */
const openStreams = (): Streams => {
  const input = openInput();
  const output = openOutput();
  let broken = false;
  const isGone = (): boolean => broken || output.destroyed;
  output.on('error', () => {
    broken = true;
  });
  /** Writers that wait until the other side accepts more. */
  const blocked: (() => void)[] = [];
  const unblock = (): void => {
    for (const resolve of blocked.splice(0)) resolve();
  };
  output.on('drain', unblock);
  output.on('close', unblock);
  return {
    input,
    isGone,
    write: bytes => {
      if (!isGone()) output.write(bytes);
    },
    drained: () =>
      output.writableNeedDrain
        ? new Promise(resolve => {
            blocked.push(resolve);
          })
        : undefined,
    flush: () =>
      isGone()
        ? Promise.resolve()
        : new Promise(resolve => {
            output.once('close', resolve);
            output.write(new Uint8Array(), () => resolve());
          }),
  };
};

const isPipe = (kind: Stats): boolean => kind.isFIFO() || kind.isSocket();

const openInput = (): Readable => {
  const kind = fstatSync(0);
  if (isPipe(kind)) return new Socket({ fd: 0, readable: true, writable: false });
  return kind.isCharacterDevice() ? process.stdin : createReadStream('', { fd: 0 });
};

const openOutput = (): Writable =>
  isPipe(fstatSync(1)) ? new Socket({ fd: 1, readable: false, writable: true }) : process.stdout;
