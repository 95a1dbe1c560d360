import { randomBytes } from 'node:crypto';
import { constants, lstatSync, readdirSync, rmSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { privateDir } from '../../bundle/private-dir.ts';
import type { Config } from '../../config/config.ts';
import { TsaltError } from '../../protocol/error.ts';
import type { ControlMethods } from '../../protocol/job.ts';
import type { Handler } from '../../protocol/peer.ts';
import { readPush } from './request-params.ts';

type Push = ControlMethods['file.push'];

const mostParts = 100;
const mostBytesOfPart = 255;

/**
 * Accepts the files that a host sends with `cp.push`, only with `file_recv`, and writes them below
 * `cachedir/minions/<id>/files`. The host chooses names below that folder and nothing else: folders
 * are made here one by one and must not be links, and each file is a plain one (0600), written
 * whole or not at all.
 *
 * @param config `file_recv`, `file_recv_max_size` (MB of one file) and `cachedir`
 * @param id the host's id in the roster
 */
export const pushHandler = (
  config: Pick<Config, 'cachedir' | 'file_recv' | 'file_recv_max_size'>,
  id: string,
): Handler => {
  // One file at a time: pieces of any other file are refused.
  let current: { key: string; temporary: string; size: number; received: number } | undefined;
  const give = async (message: string): Promise<never> => {
    const unfinished = current?.temporary;
    current = undefined;
    if (unfinished !== undefined) await rm(unfinished, { force: true });
    throw refused(message);
  };
  const take = async (push: Push): Promise<null> => {
    if (!config.file_recv)
      return give('this control node takes no files: file_recv is not true in tsalt.yaml');
    const wrong = wrongPush(push, id, config.file_recv_max_size * 1024 * 1024);
    if (wrong !== undefined) return give(wrong);
    const { path, offset, size } = push;
    const data = Buffer.from(push.data, 'base64');
    const key = path.join('/');
    const folder = placeOf(config.cachedir, id);
    if (offset === 0) {
      if (current !== undefined) await rm(current.temporary, { force: true });
      removeAbandoned(folder);
      const temporary = join(folder, `incoming.${randomBytes(8).toString('hex')}`);
      current = { key, temporary, size, received: 0 };
    }
    if (current === undefined || current.key !== key || current.received !== offset)
      return give('its pieces are out of order');
    if (current.size !== size || offset + data.length > size)
      return give('it is larger than announced');
    if (data.length === 0 && size !== offset) return give('a piece of it is empty');
    const file = await open(current.temporary, appending, 0o600);
    try {
      await file.writeFile(data);
      if (offset + data.length === size) await file.sync();
    } finally {
      await file.close();
    }
    current.received += data.length;
    if (current.received < size) return null;
    const target = targetOf(join(folder, 'files'), path);
    if (typeof target !== 'string') return give(target.obstacle);
    await rename(current.temporary, target);
    current = undefined;
    return null;
  };
  let turn: Promise<unknown> = Promise.resolve();
  return (said: unknown): Promise<null> => {
    const mine = turn.then(() => take(readPush(said)));
    turn = mine.catch(() => undefined);
    return mine;
  };
};

const abandonedAfter = 24 * 3_600_000;

/** Removes what a broken connection of this host left behind long ago. */
const removeAbandoned = (folder: string): void => {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const isOld = Date.now() - lstatSync(path).mtimeMs > abandonedAfter;
    if (name.startsWith('incoming.') && isOld) rmSync(path, { force: true });
  }
};

const appending =
  constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;

const refused = (why: string): TsaltError =>
  new TsaltError('file-push', `The file was not taken: ${why}.`, { kind: 'host' });

/** Checks what the host sent before anything is written. @returns what is wrong */
const wrongPush = (push: Push, id: string, most: number): string | undefined => {
  const { path, offset, size, data } = push;
  if (!isName(id)) return `"${id}" cannot be the name of a folder`;
  if (!Array.isArray(path) || path.length === 0 || path.length > mostParts || !path.every(isName))
    return 'its name leads elsewhere';
  if (
    ![offset, size].every(each => Number.isSafeInteger(each) && each >= 0) ||
    typeof data !== 'string'
  )
    return 'it is not described as a file';
  return size > most ? `it has ${size} bytes, file_recv_max_size allows ${most}` : undefined;
};

const isName = (part: unknown): part is string =>
  typeof part === 'string' &&
  part !== '' &&
  part !== '.' &&
  part !== '..' &&
  !/[/\\\0]/.test(part) &&
  Buffer.byteLength(part) <= mostBytesOfPart;

const placeOf = (cachedir: string, id: string): string => {
  const folder = privateDir(join(privateDir(join(privateDir(cachedir), 'minions')), id));
  privateDir(join(folder, 'files'));
  return folder;
};

/** Makes the folders of a file. @returns the path of the file, or the obstacle */
const targetOf = (files: string, path: readonly string[]): string | { obstacle: string } => {
  let folder = files;
  for (const part of path.slice(0, -1)) {
    folder = join(folder, part);
    const there = lstatSync(folder, { throwIfNoEntry: false });
    if (there && !there.isDirectory()) return { obstacle: 'one of its folders is a file here' };
    privateDir(folder);
  }
  const target = join(folder, path.at(-1) ?? '');
  return lstatSync(target, { throwIfNoEntry: false })?.isDirectory()
    ? { obstacle: 'a folder of that name exists' }
    : target;
};
