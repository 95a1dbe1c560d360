import { createReadStream, fstatSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { openWriteQueue } from '../protocol/write-queue.ts';

/** The process's stdin and stdout as a raw byte channel; no other code may use them. */
export type Wire = {
  /** Writes bytes; resolves when the other side accepts more. */
  readonly write: (bytes: Uint8Array) => Promise<void> | undefined;
  /** Calls `onBytes` for received bytes, and `onEnd` once at the end. */
  readonly read: (onBytes: (bytes: Uint8Array) => void, onEnd: () => void) => void;
  /** Flushes the queue before code that may block the event loop. */
  readonly push: () => void;
  /** Resolves when everything was written. */
  readonly flush: () => Promise<void>;
};

/**
 * Opens fd 0 and 1. `process.stdin` is avoided if possible: it adds 6 ms to the start and would
 * make the channel reachable for every module.
 */
export const openWire = (): Wire => {
  const input = openInput();
  const output = openOutput();
  let broken = false;
  const gone = (): boolean => broken || output.destroyed;
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
  const queue = openWriteQueue(bytes => {
    if (!gone()) output.write(bytes);
  });
  return {
    write: bytes => {
      if (gone()) return undefined;
      queue.add(bytes);
      if (!output.writableNeedDrain) return undefined;
      return new Promise(resolve => {
        blocked.push(resolve);
      });
    },
    read: (onBytes, onEnd) => {
      let ended = false;
      const end = (): void => {
        if (ended) return;
        ended = true;
        onEnd();
      };
      for (const event of ['end', 'error', 'close']) input.on(event, end);
      input.on('data', onBytes);
    },
    push: queue.flush,
    flush: () => {
      queue.flush();
      return gone()
        ? Promise.resolve()
        : new Promise(resolve => {
            output.once('close', resolve);
            output.write(new Uint8Array(), () => resolve());
          });
    },
  };
};

const openInput = (): Readable => {
  const kind = fstatSync(0);
  if (kind.isFIFO() || kind.isSocket())
    return new Socket({ fd: 0, readable: true, writable: false });
  return kind.isCharacterDevice() ? process.stdin : createReadStream('', { fd: 0 });
};

const openOutput = (): Writable => {
  const kind = fstatSync(1);
  return kind.isFIFO() || kind.isSocket()
    ? new Socket({ fd: 1, readable: false, writable: true })
    : process.stdout;
};
