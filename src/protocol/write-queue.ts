import { compressFrames } from './frame.ts';
import { monotonic } from './monotonic.ts';

const mostQueued = 64 * 1024;
const longestQueued = 10;

/** Joins messages that are sent in one turn of the event loop. */
export type WriteQueue = {
  readonly add: (bytes: Uint8Array) => void;
  /** Writes at once what waits. */
  readonly flush: () => void;
  /** Compresses what is written from now on. */
  readonly compress: () => void;
};

/**
 * Joins short messages: one write for each takes a packet and a system call, and the other side
 * wakes up for each. A message waits at most until the event loop's next turn, or 10 ms if the loop
 * is busy and more messages follow.
 */
export const openWriteQueue = (write: (bytes: Uint8Array) => void): WriteQueue => {
  let waiting: Uint8Array[] = [];
  let size = 0;
  let since = 0;
  let isCompressed = false;
  const flush = (): void => {
    if (waiting.length === 0) return;
    const bytes = waiting.length === 1 ? waiting[0] : Buffer.concat(waiting, size);
    waiting = [];
    size = 0;
    if (bytes) write(isCompressed ? compressFrames(bytes) : bytes);
  };
  return {
    add: bytes => {
      if (waiting.length === 0) {
        since = monotonic();
        setImmediate(flush);
      }
      waiting.push(bytes);
      size += bytes.length;
      if (size >= mostQueued || monotonic() - since >= longestQueued) flush();
    },
    flush,
    compress: () => {
      isCompressed = true;
    },
  };
};
