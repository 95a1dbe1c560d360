/**
 * Manages which program a generic command name points to, with `update-alternatives`.
 *
 * @platform linux
 * @depends update-alternatives or alternatives
 */

import { runCommand } from '../../_shared/commands/run-command.ts';
import { which } from '../../_shared/commands/which.ts';
import { readlinkSync } from '../../_shared/safe-fs/fs.ts';

/** Runs `update-alternatives` (Debian) or `alternatives` (Red Hat). */

const program = (): string =>
  which('update-alternatives') ?? which('alternatives') ?? 'update-alternatives';

const run = async (...args: string[]): Promise<{ code: number; text: string; error: string }> => {
  const { code, stdout, stderr } = await runCommand([program(), ...args], { plainLocale: true });
  return { code, text: stdout.replace(/\n$/, ''), error: stderr.trim() };
};

export const __virtual__ = (): true | [false, string] =>
  which('update-alternatives') || which('alternatives')
    ? true
    : [false, 'update-alternatives is not installed'];

/**
 * Returns the output of `update-alternatives --display` for a name.
 *
 * @param name the name
 *
 * @example tsalt-ssh '*' alternatives.display editor
 */
export const display = async (name: string): Promise<string> => {
  const { code, text, error } = await run('--display', name);
  return code > 0 && error !== '' ? error : text;
};

/**
 * Returns the target of a name's link.
 *
 * @param name the name
 *
 * @example tsalt-ssh '*' alternatives.show_link editor
 */
export const show_link = async (name: string): Promise<string | false> => {
  const { text } = await run('--query', name);
  return (
    text.match(/^Link: (.+)$/m)?.[1] ??
    (await display(name)).match(/link \w+ is (.+)$/m)?.[1] ??
    false
  );
};

/**
 * Returns the path that a name currently points to, or false.
 *
 * @param name the name
 *
 * @example tsalt-ssh '*' alternatives.show_current editor
 */
export const show_current = async (name: string): Promise<string | false> => {
  try {
    return readlinkSync(`/etc/alternatives/${name}`);
  } catch {
    return false;
  }
};

/**
 * Whether a path is registered for a name.
 *
 * @param name the name
 * @param path the path
 *
 * @example tsalt-ssh '*' alternatives.check_exists editor /usr/bin/vim
 */
export const check_exists = async (name: string, path: string): Promise<boolean> =>
  (await display(name)).split('\n').some(line => line.startsWith(`${path} - `));

/**
 * Returns true if a name currently points to the path.
 *
 * @param name the name
 * @param path the path
 *
 * @example tsalt-ssh '*' alternatives.check_installed editor /usr/bin/vim
 */
export const check_installed = async (name: string, path: string): Promise<boolean> =>
  (await show_current(name)) === path;

/**
 * Registers a path as an alternative of a name.
 *
 * @param name the name
 * @param link the link that users see
 * @param path the path
 * @param priority the highest one wins in auto mode
 *
 * @example tsalt-ssh '*' alternatives.install editor /usr/bin/editor /usr/bin/vim 50
 */
export const install = async (
  name: string,
  link: string,
  path: string,
  priority: number | string,
): Promise<string> => outcome(await run('--install', link, name, path, String(priority)));

/**
 * Removes a path from the alternatives of a name.
 *
 * @param name the name
 * @param path the path
 *
 * @example tsalt-ssh '*' alternatives.remove editor /usr/bin/vim
 */
export const remove = async (name: string, path: string): Promise<string> =>
  outcome(await run('--remove', name, path));

/**
 * Sets a name to auto mode: it points to the path with the highest priority.
 *
 * @param name the name
 *
 * @example tsalt-ssh '*' alternatives.auto editor
 */
export const auto = async (name: string): Promise<string> => outcome(await run('--auto', name));

/**
 * Sets the path that a name points to.
 *
 * @param name the name
 * @param path the path
 *
 * @example tsalt-ssh '*' alternatives.set editor /usr/bin/vim
 */
export const set = async (name: string, path: string): Promise<string> =>
  outcome(await run('--set', name, path));

const outcome = ({ code, text, error }: { code: number; text: string; error: string }): string =>
  code > 0 && error !== '' ? error : text;
