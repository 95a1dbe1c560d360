/** Manages encrypted devices and /etc/crypttab. */

import { runCommand } from '../../_shared/commands/run-command.ts';
import { isFile } from '../../_shared/files/file-paths.ts';
import { replaceFile } from '../../_shared/files/write-file.ts';
import { CommandExecutionError } from '../../api.ts';
import {
  type CrypttabEntry,
  crypttabKeys,
  crypttabLine,
  isLike,
  readCrypttab,
} from '../crypttab.ts';

type Active = { devname: string; major: string; minor: string };

/**
 * Returns the open encrypted devices: `{devname, major, minor}` by name.
 *
 * @example tsalt-ssh '*' cryptdev.active
 */
export const active = async (): Promise<{ [name: string]: Active }> => {
  const { stdout } = await runCommand(['dmsetup', 'ls', '--target', 'crypt'], {
    plainLocale: true,
  });
  // Versions before 1.02.175 write a comma.
  return Object.fromEntries(
    [...stdout.matchAll(/^(\S+)\s+\((\d+)(?:, |:)(\d+)\)/gm)].map(
      ([, devname = '', major = '', minor = '']) => [devname, { devname, major, minor }],
    ),
  );
};

/**
 * Returns the entries of /etc/crypttab: `{device, password, options}` by name. A `_` is appended to
 * the name of a second entry of the same name.
 *
 * @param config the file
 * @example tsalt-ssh '*' cryptdev.crypttab
 */
export const crypttab = async (
  config = '/etc/crypttab',
): Promise<{ [name: string]: { device: string; password: string; options: string[] } }> => {
  const found: { [name: string]: { device: string; password: string; options: string[] } } = {};
  for (const { entry } of readCrypttab(config)) {
    if (!entry) continue;
    let { name } = entry;
    while (Object.hasOwn(found, name)) name += '_';
    const { device, password, options } = entry;
    found[name] = { device, password, options: options.split(',') };
  }
  return found;
};

/**
 * Removes an entry from /etc/crypttab. Returns `change`, or `absent` if there is none.
 *
 * @param name the name of the mapping
 * @param config the file
 * @example tsalt-ssh '*' cryptdev.rm_crypttab data
 */
export const rm_crypttab = async (
  name: string,
  config = '/etc/crypttab',
): Promise<'change' | 'absent'> => {
  if (!isFile(config))
    throw new CommandExecutionError(`Could not read from ${config}: there is no such file`);
  const lines = readCrypttab(config);
  const kept = lines.filter(({ entry }) => entry?.name !== name);
  if (kept.length === lines.length) return 'absent';
  await replaceFile(config, kept.map(({ text }) => text).join(''));
  return 'change';
};

/**
 * Adds or changes an entry in /etc/crypttab. Returns `new`, `change`, or `present`.
 *
 * @param name the name of the mapping
 * @param device the device, or `UUID=…`
 * @param password a file with the key; `none`: it is asked for at boot
 * @param options options, a list or separated by commas
 * @param config the file
 * @param test true: write nothing
 * @param match_on the fields that identify the entry, one or several: `name`, `device`, `password`, `options`
 * @example tsalt-ssh '*' cryptdev.set_crypttab swap /dev/sdz1 /dev/urandom swap,size=256
 */
export const set_crypttab = async (
  name: string,
  device: string,
  password: string | null = 'none',
  options: string | string[] | null = '',
  config = '/etc/crypttab',
  test = false,
  match_on: string | string[] = 'name',
): Promise<'new' | 'change' | 'present'> => {
  const wanted: CrypttabEntry = {
    name,
    device,
    password: password ?? 'none',
    options: Array.isArray(options) ? options.join(',') : (options ?? ''),
  };
  const wrong = Object.entries(wanted).find(
    ([key, value]) => /\s/.test(value) || (value === '' && key !== 'options'),
  );
  if (wrong)
    throw new CommandExecutionError(`The ${wrong[0]} '${wrong[1]}' cannot stand in ${config}.`);
  const keys = keysOf(match_on);
  if (!isFile(config)) throw new CommandExecutionError(`Bad config file "${config}"`);
  const lines = readCrypttab(config);
  const meant = lines.filter(({ entry }) => entry && isLike(entry, wanted, keys));
  const stale = meant.filter(({ entry }) => entry && !isLike(entry, wanted));
  if (meant.length > 0 && stale.length === 0) return 'present';
  const line = crypttabLine(wanted);
  const texts = lines.map(each => (stale.includes(each) ? line : each.text));
  if (meant.length === 0) {
    const last = texts.at(-1);
    if (last !== undefined && !last.endsWith('\n')) texts.push('\n');
    texts.push(line);
  }
  if (!test) await replaceFile(config, texts.join(''));
  return meant.length === 0 ? 'new' : 'change';
};

const keysOf = (match_on: string | string[]): (keyof CrypttabEntry)[] => {
  const keys = Array.isArray(match_on) ? match_on : [match_on];
  const odd = keys.filter(key => !crypttabKeys.includes(key as keyof CrypttabEntry));
  if (odd.length > 0)
    throw new CommandExecutionError(`Unrecognized keys in match_on: "${odd.join(', ')}"`);
  return keys as (keyof CrypttabEntry)[];
};

/**
 * Opens an encrypted device with a key file and returns whether that succeeded.
 *
 * @param name the name of the mapping
 * @param device the device
 * @param keyfile the file
 * @example tsalt-ssh '*' cryptdev.open data /dev/sdz1 /etc/keys/data
 */
export const open = async (
  name: string,
  device: string,
  keyfile: string | null,
): Promise<boolean> => {
  if (keyfile === null || keyfile === 'none' || keyfile === '-')
    throw new CommandExecutionError('For immediate crypt device mapping, keyfile must not be none');
  const argv = ['cryptsetup', 'open', '--key-file', keyfile, '--', device, name] as const;
  return (await runCommand(argv)).code === 0;
};

/**
 * Closes an encrypted device and returns whether that succeeded.
 *
 * @param name the name of the mapping
 * @example tsalt-ssh '*' cryptdev.close data
 */
export const close = async (name: string): Promise<boolean> =>
  (await runCommand(['cryptsetup', 'close', '--', name])).code === 0;
