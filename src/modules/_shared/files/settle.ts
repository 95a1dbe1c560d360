import { resolve } from 'node:path';
import { messageOf } from '../../../protocol/error.ts';
import { constants } from '../safe-fs/fs.ts';
import { open } from '../safe-fs/promises.ts';

let unsettled = new Set<string>();
let last: Promise<string[]> = Promise.resolve([]);

/** This file is to reach the disk before the run ends; until then nothing waits for it. */
export const settleLater = (path: string): void => {
  unsettled.add(resolve(path));
};

/**
 * Waits until the files of `settleLater` are on the disk: many at once, which for a disk is little
 * more than one. Returns the errors of files that could not be synced.
 */
export const settle = (): Promise<string[]> => {
  last = last.then(flush);
  return last;
};

const atOnce = 16;

const flush = async (): Promise<string[]> => {
  const files = unsettled.values();
  const count = unsettled.size;
  unsettled = new Set();
  const complaints: string[] = [];
  const worker = async (): Promise<void> => {
    for (const path of files) {
      const complaint = await toDisk(path);
      if (complaint !== undefined) complaints.push(complaint);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, worker));
  return complaints;
};

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;

const toDisk = async (path: string): Promise<string | undefined> => {
  // A file that cannot be opened was removed or replaced in the meantime.
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => undefined);
  try {
    await file?.sync();
    return undefined;
  } catch (error) {
    return `${path} may not outlast a power cut: ${messageOf(error)}`;
  } finally {
    await file?.close();
  }
};
