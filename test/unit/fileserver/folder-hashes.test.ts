import { expect, test } from 'vitest';
import {
  FolderHashes,
  type HashStore,
  type KeptFolder,
} from '../../../src/fileserver/folder-hashes.ts';

const stamp = (size: number) => ({
  size,
  mtimeMs: 1.5,
  ctimeMs: 2.25,
  ino: 2 ** 40 + size,
  dev: 1,
});
const sha = (digit: string): string => digit.repeat(64);

/** A store of one folder. */
const storeOf = (): HashStore & { folder: KeptFolder | undefined } => {
  const store = {
    folder: undefined as KeptFolder | undefined,
    read: () => store.folder,
    add: (_: string, kept: KeptFolder) => {
      store.folder = kept;
    },
  };
  return store;
};

/** Lists files by name with their sizes. Returns the names of those that had to be hashed. */
const list = (store: HashStore, files: Record<string, number>): string[] => {
  const hashes = new FolderHashes(store, 'folder');
  const hashed = Object.entries(files).filter(([name, size]) => {
    const known = hashes.get(name, stamp(size));
    if (known !== undefined) expect(known, name).toBe(sha(String(size)));
    else hashes.put(name, stamp(size), sha(String(size)));
    return known === undefined;
  });
  hashes.end();
  return hashed.map(([name]) => name);
};

test('hashes are kept while files before, between and after them come, change and go', () => {
  const store = storeOf();
  expect(list(store, { b: 1, d: 2, f: 3 })).toEqual(['b', 'd', 'f']);
  expect(list(store, { a: 9, b: 1, c: 8, d: 2, e: 7, f: 3, g: 6 })).toEqual(['a', 'c', 'e', 'g']);
  expect(store.folder?.names).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g']);
  expect(list(store, { b: 1, c: 8, d: 5, f: 3, g: 6 })).toEqual(['d']);
  expect(store.folder?.names).toEqual(['b', 'c', 'd', 'f', 'g']);
  const { folder } = store;
  expect(list(store, { b: 1, c: 8, d: 5, f: 3, g: 6 })).toEqual([]);
  expect(store.folder).toBe(folder);
  expect(list(store, { c: 8, d: 5 })).toEqual([]);
  expect(store.folder?.names).toEqual(['c', 'd']);
  expect(list(store, {})).toEqual([]);
  expect(store.folder?.names).toEqual([]);
});

test.each(['size', 'mtimeMs', 'ctimeMs', 'ino', 'dev'] as const)(
  'a file with another %s has to be hashed again',
  key => {
    const store = storeOf();
    list(store, { a: 1, b: 2 });
    const hashes = new FolderHashes(store, 'folder');
    expect(hashes.get('a', stamp(1))).toBe(sha('1'));
    expect(hashes.get('b', { ...stamp(2), [key]: 0 })).toBeUndefined();
    expect(hashes.get('b', stamp(2))).toBe(sha('2'));
  },
);
