/**
 * Manages the keyboard layout of the system and of X.
 *
 * @platform Linux
 */

import { runChecked } from '../../_shared/commands/run-command.ts';
import { which } from '../../_shared/commands/which.ts';
import { writeAtomic } from '../../_shared/files/atomic-write.ts';
import { parseAssignments, readOr } from '../../_shared/files/read-file.ts';
import { existsSync } from '../../_shared/safe-fs/fs.ts';
import { __grains__, CommandExecutionError, SaltInvocationError } from '../../api.ts';

/** The files of the keyboard layout, by family. On Debian, localectl has no console layouts. */
const files: Readonly<Record<string, { path: string; key: string }>> = {
  Debian: { path: '/etc/default/keyboard', key: 'XKBLAYOUT' },
  RedHat: { path: '/etc/sysconfig/keyboard', key: 'LAYOUT' },
  Gentoo: { path: '/etc/conf.d/keymaps', key: 'keymap' },
};

const family = (): string => String(__grains__.os_family);
const hasLocalectl = (): boolean =>
  family() !== 'Debian' && existsSync('/run/systemd/system') && which('localectl') !== undefined;

export const __virtual__ = (): true | [false, string] =>
  Object.hasOwn(files, family()) ||
  which('localectl') !== undefined || [false, 'it needs localectl, or Debian, Red Hat or Gentoo.'];

const place = (): { path: string; key: string } => {
  const found = files[family()];
  if (found) return found;
  throw new CommandExecutionError(
    'The layout is set with localectl, which needs systemd, but systemd is not running.',
  );
};

/**
 * Returns the layout of the system's keyboard; '' if none is set.
 *
 * @example tsalt-ssh '*' keyboard.get_sys
 */
export const get_sys = async (): Promise<string> => {
  if (hasLocalectl()) {
    const { stdout } = await runChecked(['localectl', 'status'], { plainLocale: true });
    const keymap = /^\s*VC Keymap: (.*)$/m.exec(stdout)?.[1]?.trim() ?? '';
    return /^(?:n\/a|\(unset\))$/.test(keymap) ? '' : keymap;
  }
  const { path, key } = place();
  return parseAssignments(readOr(path) ?? '').get(key) ?? '';
};

/**
 * Sets the layout of the system's keyboard. Debian's console takes it at the next boot, or by
 * `setupcon`.
 *
 * @param layout the layout, `us`
 * @example tsalt-ssh '*' keyboard.set_sys dvorak
 */
export const set_sys = async (layout: string): Promise<string> => {
  const plain = checkedLayout(layout);
  if (hasLocalectl()) {
    await runChecked(['localectl', 'set-keymap', plain], { plainLocale: true });
    return layout;
  }
  const { path, key } = place();
  const text = readOr(path) ?? '';
  const line = `${key}="${plain}"`;
  const old = new RegExp(`^\\s*${key}=.*$`, 'm');
  const apart = text === '' || text.endsWith('\n') ? '' : '\n';
  writeAtomic(path, old.test(text) ? text.replace(old, line) : `${text}${apart}${line}\n`);
  return layout;
};

/** Checks a layout; several layouts may be separated by commas. */
const checkedLayout = (layout: string): string => {
  if (/^\w[\w,.:()+-]*$/.test(layout)) return layout;
  throw new SaltInvocationError(`'${layout}' is not a keyboard layout.`);
};

/**
 * Returns the layout of the keyboard in the X session of the environment.
 *
 * @example tsalt-ssh '*' keyboard.get_x
 */
export const get_x = async (): Promise<string> => {
  const { stdout } = await runChecked(['setxkbmap', '-query'], { plainLocale: true });
  return /^layout:\s*(\S+)/m.exec(stdout)?.[1] ?? '';
};

/**
 * Sets the layout of the keyboard in the X session of the environment.
 *
 * @param layout the layout, `us`
 * @example tsalt-ssh '*' keyboard.set_x dvorak
 */
export const set_x = async (layout: string): Promise<string> => {
  await runChecked(['setxkbmap', checkedLayout(layout)], { plainLocale: true });
  return layout;
};
