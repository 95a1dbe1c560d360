import { readFileSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { privateDir, writePrivate } from '../../bundle/private-dir.ts';
import { isInFolder } from '../../lsp/project-root.ts';
import { TsaltError } from '../../protocol/error.ts';
import { checkTrusted } from '../../trust/check.ts';
import type { Opened } from '../commands.ts';

type Env = Opened['env'];

const folderOf = (env: Env): string => join(env.HOME ?? homedir(), '.config/tsalt-ssh');
const fileOf = (env: Env): string => join(folderOf(env), 'trusted-folders.json');

/**
 * Reads the folders that the user has trusted for editors.
 *
 * @throws TsaltError `untrusted` if another user could have written the list
 */
export const trustedFolders = (env: Env): readonly string[] => {
  const file = fileOf(env);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return [];
  }
  checkTrusted(file, 'The list of trusted folders');
  const list = parsed(text);
  if (list) return list;
  throw new TsaltError('trusted-folders', `${file} is not a list of folders.`, {
    hint: 'Remove the file, and trust the folders again: tsalt-ssh lsp trust FOLDER',
  });
};

const parsed = (text: string): string[] | undefined => {
  try {
    const list: unknown = JSON.parse(text);
    const isList = Array.isArray(list) && list.every(one => typeof one === 'string');
    return isList ? list : undefined;
  } catch {
    return undefined;
  }
};

/** Whether a folder, or one above it, was trusted. */
export const isTrustedFolder = (folder: string, env: Env): boolean => {
  const list = trustedFolders(env);
  if (list.length === 0) return false;
  const path = realpathSync(folder);
  return list.some(one => isInFolder(one, path));
};

/**
 * Adds a folder to the list, or removes it.
 *
 * @returns its path without links
 * @throws TsaltError `usage-value` if it is not there, `untrusted`, `cache-dir`
 */
export const setTrusted = async (folder: string, isTrusted: boolean, env: Env): Promise<string> => {
  const path = pathOf(resolve(folder), isTrusted);
  const others = trustedFolders(env).filter(one => one !== path);
  const list = isTrusted ? [...others, path].sort() : others;
  privateDir(folderOf(env));
  await writePrivate(fileOf(env), `${JSON.stringify(list, null, 2)}\n`);
  return path;
};

const pathOf = (path: string, mustExist: boolean): string => {
  try {
    return realpathSync(path);
  } catch (cause) {
    if (!mustExist) return path;
    throw new TsaltError(
      'usage-value',
      `The folder ${path} cannot be trusted: it does not exist.`,
      {
        cause,
      },
    );
  }
};
