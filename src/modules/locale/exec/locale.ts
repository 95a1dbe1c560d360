/**
 * Manages the locales of the system.
 *
 * @platform linux
 */

import { dirname } from 'node:path';
import { runChecked, runCommand } from '../../_shared/commands/run-command.ts';
import { which } from '../../_shared/commands/which.ts';
import { writeAtomic } from '../../_shared/files/atomic-write.ts';
import { realPath } from '../../_shared/files/file-paths.ts';
import { makeDirs } from '../../_shared/files/make-dirs.ts';
import { readOr } from '../../_shared/files/read-file.ts';
import { existsSync, readFileSync } from '../../_shared/safe-fs/fs.ts';
import { __grains__, CommandExecutionError, log } from '../../api.ts';

const files = ['/etc/locale.conf', '/etc/default/locale', '/etc/sysconfig/i18n'];

/**
 * Returns the available locales.
 *
 * @example tsalt-ssh '*' locale.list_avail
 */
export const list_avail = async (): Promise<string[]> =>
  (await runChecked(['locale', '-a'])).stdout.split('\n').filter(Boolean);

/**
 * Returns the system's locale; '' if none is set.
 *
 * @example tsalt-ssh '*' locale.get_locale
 */
export const get_locale = async (): Promise<string> => {
  const texts = files.filter(existsSync).map(file => readFileSync(file, 'utf8'));
  const found = texts.map(text => text.match(/^\s*LANG=["']?([^"'\n]*)/m)?.[1]);
  return found.find(value => value !== undefined) ?? '';
};

/**
 * Sets the system's locale. Where systemd runs it is set by localectl, which refuses one that is not
 * there; Debian's makes it first, where it can be made.
 *
 * @param locale the locale
 *
 * @example tsalt-ssh '*' locale.set_locale en_US.UTF-8
 */
export const set_locale = async (locale: string): Promise<boolean> => {
  if (!/^[\w.@-]+$/.test(locale)) throw new CommandExecutionError(`'${locale}' is not a locale`);
  if (hasLocalectl()) await runChecked(['localectl', 'set-locale', ...(await variables(locale))]);
  const there = files.filter(existsSync);
  // Debian's logins read only this file; systemd writes it too.
  const first = __grains__.os_family === 'Debian' ? '/etc/default/locale' : '/etc/locale.conf';
  // One file may be a link to the other.
  for (const file of new Set((there.length > 0 ? there : [first]).map(realPath))) {
    const text = readOr(file) ?? '';
    const line = `LANG=${locale}`;
    const set = /^\s*LANG=.*$/m.test(text)
      ? text.replace(/^\s*LANG=.*$/m, line)
      : `${text === '' || text.endsWith('\n') ? text : `${text}\n`}${line}\n`;
    if (set === text) continue;
    makeDirs(dirname(file));
    writeAtomic(file, set);
  }
  return true;
};

/** localectl talks to systemd over D-Bus, which a small system may not have. */
const hasLocalectl = (): boolean =>
  existsSync('/run/systemd/system') &&
  existsSync('/run/dbus/system_bus_socket') &&
  which('localectl') !== undefined;

/**
 * Returns the system's locale settings with the new locale: localectl removes settings that are not
 * passed.
 */
const variables = async (locale: string): Promise<string[]> => {
  const { stdout } = await runChecked(['localectl', 'status'], { plainLocale: true });
  const set = stdout.match(/^\s*(?:System Locale: )?(?:LC_\w+|LANGUAGE)=\S+$/gm) ?? [];
  return [`LANG=${locale}`, ...set.map(line => line.trim().replace('System Locale: ', ''))];
};

/**
 * Whether a locale is there, however its character set is written.
 *
 * @param locale the locale
 *
 * @example tsalt-ssh '*' locale.avail en_US.UTF-8
 */
export const avail = async (locale: string): Promise<boolean> =>
  (await list_avail()).some(each => normal(each) === normal(locale));

/**
 * Makes a locale. True when it is there then.
 *
 * @param locale the locale, followed by a space and its character set if that is not the usual one
 * @param verbose accepted for compatibility
 *
 * @example tsalt-ssh '*' locale.gen_locale en_US.UTF-8
 */
export const gen_locale = async (
  locale: string,
  { verbose: _verbose = false }: { verbose?: boolean } = {},
): Promise<boolean> => {
  const [name = '', given] = locale.trim().split(/\s+/);
  if (!/^[\w.@-]+$/.test(name)) throw new CommandExecutionError(`'${locale}' is not a locale`);
  const charset = charsetOf(name, given);
  if (charset === undefined) {
    log.error(`The provided locale "${locale}" is not known to this system.`);
    return false;
  }
  if (existsSync('/etc/locale.gen')) {
    const text = readFileSync('/etc/locale.gen', 'utf8');
    const entry = `${name} ${charset}`;
    const commented = new RegExp(`^#\\s*${entry.replaceAll('.', '\\.')}\\s*$`, 'm');
    if (!text.split('\n').some(line => line.trim() === entry))
      writeAtomic(
        '/etc/locale.gen',
        commented.test(text)
          ? text.replace(commented, entry)
          : `${text.replace(/\n*$/, '\n')}${entry}\n`,
      );
  }
  if (which('locale-gen'))
    await runChecked(['locale-gen', ...(existsSync('/etc/locale.gen') ? [] : [name])]);
  else if (which('localedef'))
    await runCommand([
      'localedef',
      '--force',
      '-i',
      name.replace(/\..*?(?=@|$)/, ''),
      '-f',
      charset,
      name,
    ]);
  else
    throw new CommandExecutionError(
      'Command "locale-gen" or "localedef" was not found on this system.',
    );
  return avail(name);
};

/** Returns the character set of a locale that the system can generate; undefined if it cannot. */
const charsetOf = (name: string, given: string | undefined): string | undefined => {
  const asked = given ?? name.match(/\.([\w-]+)/)?.[1];
  const wanted = asked !== undefined && /^utf-?8$/i.test(asked) ? 'UTF-8' : asked;
  const supported = readOr('/usr/share/i18n/SUPPORTED');
  if (supported === undefined) {
    const isThere = existsSync(`/usr/share/i18n/locales/${name.replace(/\.[^@]*/, '')}`);
    return isThere ? (wanted ?? 'ISO-8859-1') : undefined;
  }
  const sets = supported
    .split('\n')
    .flatMap(line => (line.startsWith(`${name} `) ? [line.slice(name.length).trim()] : []));
  return wanted === undefined ? sets[0] : sets.find(set => set === wanted);
};

const normal = (locale: string): string =>
  locale
    .trim()
    .split(/\s+/)[0]
    ?.toLowerCase()
    .replace(/\.([\w-]+)/, (_, set: string) => `.${set.replaceAll('-', '')}`) ?? '';
