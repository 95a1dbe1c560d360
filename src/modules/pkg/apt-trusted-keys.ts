import { join } from 'node:path';
import { readdirSync, readFileSync, rmSync } from '../_shared/safe-fs/fs.ts';
import { CommandExecutionError } from '../api.ts';
import { fingerprints } from './openpgp.ts';

/** The folder of keys that belong to a source by its `signed-by`. */
export const keyringFolder = '/etc/apt/keyrings';

const trusted = ['/etc/apt/trusted.gpg.d', '/etc/apt/trusted.gpg'];

/**
 * Removes a key that apt trusts for every source, or one in a folder of key rings.
 *
 * @param id the end of its fingerprint, with `0x` or without
 * @param folder null: the keys that apt trusts for every source
 * @returns the removed files
 * @throws CommandExecutionError if a file contains other keys too; nothing is removed then
 */
export const removeTrustedKey = (id: string, folder: string | null): string[] => {
  const wanted = id.replace(/^0x/i, '').toUpperCase();
  if (!/^[0-9A-F]{8,40}$/.test(wanted))
    throw new CommandExecutionError(
      `${id} is no id of a key: 8 to 40 hexadecimal digits are expected.`,
    );
  const found: string[] = [];
  for (const path of (folder ? [folder] : trusted).flatMap(filesAt)) {
    const prints = fingerprints(readFileSync(path));
    if (!prints.some(print => print.endsWith(wanted))) continue;
    const others = prints.filter(print => !print.endsWith(wanted));
    if (others.length > 0)
      throw new CommandExecutionError(
        `${path} has other keys too: ${others.join(', ')}. Take the key out of it by hand.`,
      );
    found.push(path);
  }
  for (const path of found) rmSync(path);
  return found;
};

/** A trusted key, and the file that contains it. */
export type TrustedKey = { keyid: string; fingerprint: string; file: string };

/** Returns the keys that apt trusts for every source, or those in a folder of key rings, by id. */
export const trustedKeys = (folder: string | null): { [keyid: string]: TrustedKey } =>
  Object.fromEntries(
    (folder ? [folder] : trusted).flatMap(filesAt).flatMap(file =>
      fingerprints(readFileSync(file)).map(fingerprint => {
        const keyid = fingerprint.slice(-16);
        return [keyid, { keyid, fingerprint, file }] as const;
      }),
    ),
  );

const filesAt = (path: string): string[] => {
  try {
    return readdirSync(path)
      .filter(name => /\.(?:gpg|asc)$/.test(name))
      .map(name => join(path, name));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOTDIR') return [path];
    if (code === 'ENOENT') return [];
    throw error;
  }
};
