import {
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../protocol/error.ts';
import { isPlainDict } from '../protocol/plain.ts';
import type { PendingReactions } from './engine/pending.ts';

const fileName = 'pending.json';
const maxEntries = 10_000;

/**
 * The reactions a host owes, kept in its workspace: written the moment a watched state has
 * changed, taken off when its watcher has reacted. A run that dies in between leaves them to
 * the next one. In test mode the journal is only read.
 */
export const openJournal = (
  dir: string,
  options: { readonly readOnly: boolean; readonly onError: (message: string) => void },
): PendingReactions => {
  const path = join(dir, fileName);
  const owed = readEntries(path);
  const save = (): void => {
    if (options.readOnly) return;
    try {
      writeEntries(dir, path, owed);
    } catch (error) {
      const why = messageOf(error);
      options.onError(`Pending reactions could not be recorded in ${path}: ${why}`);
    }
  };
  return {
    has: watcher => owed.has(watcher),
    add: (watchers, changed) => {
      const before = owed.size;
      for (const watcher of watchers)
        if (!owed.has(watcher) && owed.size < maxEntries) owed.set(watcher, changed);
      if (owed.size > before) save();
    },
    done: watcher => {
      if (owed.delete(watcher)) save();
    },
  };
};

/** A file that is no journal (half a disk, a hand) counts as empty: it is only a memory. */
const readEntries = (path: string): Map<string, string> => {
  try {
    const data: unknown = JSON.parse(readFileSync(path, 'utf8'));
    const owed = isPlainDict(data) && isPlainDict(data.owed) ? data.owed : {};
    return new Map(Object.entries(owed).map(([watcher, changed]) => [watcher, String(changed)]));
  } catch {
    return new Map();
  }
};

const writeEntries = (dir: string, path: string, owed: ReadonlyMap<string, string>): void => {
  if (owed.size === 0) {
    unlinkSync(path);
    return;
  }
  const draft = `${path}.${process.pid}`;
  const file = openSync(draft, 'w', 0o600);
  try {
    writeSync(file, JSON.stringify({ owed: Object.fromEntries(owed) }));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(draft, path);
  syncFolder(dir);
};

const syncFolder = (dir: string): void => {
  const folder = openSync(dir, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
};
