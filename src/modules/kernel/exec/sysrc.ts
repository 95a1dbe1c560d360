/**
 * Manages settings of FreeBSD's rc(8), as in `/etc/rc.conf`, with sysrc.
 *
 * @depends sysrc
 */

import { type CommandResult, runCommand } from '../../_shared/commands/run-command.ts';
import { which } from '../../_shared/commands/which.ts';
import { CommandExecutionError, type Plain, SaltInvocationError } from '../../api.ts';
import { rcValue } from '../rc-value.ts';

export const __virtual__ = (): true | [false, string] =>
  which('sysrc') !== undefined || [false, 'sysrc is not installed.'];

export const __func_alias__ = { set_: 'set' };

/** Values by the file that contains them, and by name. */
type Settings = Record<string, Record<string, string>>;

const sysrc = async (
  { file, jail }: { readonly file: string | undefined; readonly jail: string | undefined },
  ...words: string[]
): Promise<CommandResult> => {
  const place = [
    ...(file === undefined ? [] : ['-f', file]),
    ...(jail === undefined ? [] : ['-j', jail]),
  ];
  return await runCommand(['sysrc', '-v', ...place, ...words], { plainLocale: true, cwd: '/' });
};

/** Returns the output. @throws CommandExecutionError if the command failed */
const done = ({ code, stdout, stderr }: CommandResult): string => {
  if (code === 0) return stdout;
  throw new CommandExecutionError(`sysrc failed: ${stderr.trim()}`);
};

const nameOf = (name: string): string => {
  if (/^[A-Za-z_]\w*$/.test(name)) return name;
  throw new SaltInvocationError(
    `${JSON.stringify(name)} is not a valid name of a setting: only letters, digits and _ are allowed.`,
  );
};

/** Parses lines of `FILE: NAME: VALUE`; a value may continue on the following lines. */
const settingsOf = (text: string): Settings => {
  const settings: Settings = {};
  for (const [, file = '', name = '', value = ''] of text.matchAll(
    /^(\/[^:\n]*): ([A-Za-z_]\w*):(?: (.*(?:\n(?!\/[^:\n]*: [A-Za-z_]\w*:).*)*))?$/gm,
  )) {
    settings[file] ??= {};
    settings[file][name] = value.replace(/\n$/, '');
  }
  return settings;
};

/**
 * Returns the settings by the file that contains each; empty if no setting has this name.
 *
 * @unknown ignored
 * @param name one setting; without it all that differ from their default
 * @param file the file to look into, in the place of those of `rc_conf_files`
 * @param jail the jail to look into, by name or number
 * @param includeDefaults settings that have their default, too
 * @example tsalt-ssh '*' sysrc.get name=sshd_enable
 */
export const get = async (
  name?: string,
  file?: string,
  jail?: string,
  includeDefaults = false,
): Promise<Settings | null> => {
  const wanted = name === undefined ? (includeDefaults ? '-A' : '-a') : nameOf(name);
  const answer = await sysrc({ file, jail }, wanted);
  return answer.stderr.includes('unknown variable') ? null : settingsOf(done(answer));
};

/**
 * Sets a setting. Returns its new value, by the file that contains it.
 *
 * @unknown ignored
 * @param name the setting
 * @param value its value; true and false are YES and NO
 * @param file the file to write into, in the place of the last of `rc_conf_files`
 * @param jail the jail to write into, by name or number
 * @example tsalt-ssh '*' sysrc.set name=sshd_flags value='-p 2222'
 */
export const set_ = async (
  name: string,
  value: Plain,
  file?: string,
  jail?: string,
): Promise<Settings> => {
  const word = `${nameOf(name)}=${rcValue(value)}`;
  const settings = settingsOf(done(await sysrc({ file, jail }, word)));
  for (const values of Object.values(settings))
    for (const [key, change] of Object.entries(values))
      values[key] = change.slice(change.indexOf(' -> ') + 4);
  return settings;
};

/**
 * Removes a setting.
 *
 * @unknown ignored
 * @param name the setting
 * @param file the file to remove it from, in the place of those of `rc_conf_files`
 * @param jail the jail to remove it from, by name or number
 * @example tsalt-ssh '*' sysrc.remove name=sshd_enable
 */
export const remove = async (name: string, file?: string, jail?: string): Promise<string> => {
  done(await sysrc({ file, jail }, '-x', nameOf(name)));
  return `${name} removed`;
};
