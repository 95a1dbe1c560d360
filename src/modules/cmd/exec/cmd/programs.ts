import { runCommand } from '../../../_shared/commands/run-command.ts';
import { which as findCommand } from '../../../_shared/commands/which.ts';
import { readOr } from '../../../_shared/files/read-file.ts';
import { writeFile } from '../../../_shared/safe-fs/promises.ts';
import { notDone } from '../../../_shared/states/not-done.ts';
import type { PlainDict } from '../../../api.ts';

/**
 * Returns the path of a command, or null.
 *
 * @param cmd the name of a command
 * @example tsalt-ssh '*' cmd.which git
 */
export const which = async (cmd: string): Promise<string | null> => findCommand(cmd) ?? null;

/**
 * Returns the path of the first of several commands that is installed, or null.
 *
 * @param cmds names of commands
 * @example tsalt-ssh '*' cmd.which_bin '[pip3, pip]'
 */
export const which_bin = async (cmds: string[]): Promise<string | null> =>
  cmds.map(findCommand).find(path => path !== undefined) ?? null;

/**
 * Whether a command is there.
 *
 * @param cmd the name of a command
 * @example tsalt-ssh '*' cmd.has_exec git
 */
export const has_exec = async (cmd: string): Promise<boolean> => findCommand(cmd) !== undefined;

/**
 * Returns the login shells of this host, from /etc/shells.
 *
 * @example tsalt-ssh '*' cmd.shells
 */
export const shells = async (): Promise<string[]> =>
  (readOr('/etc/shells') ?? '').split('\n').filter(line => line.startsWith('/'));

/** The command that prints each program's version, and the pattern that finds it in the output. */
const versions: Readonly<Record<string, { argv: [string, ...string[]]; version: RegExp }>> = {
  bash: { argv: ['bash', '--version'], version: /version (\d\S*)/i },
  zsh: { argv: ['zsh', '--version'], version: /^zsh (\d\S*)/i },
  tcsh: { argv: ['tcsh', '--version'], version: /^tcsh (\d\S*)/i },
  perl: { argv: ['perl', '-e', 'printf "%vd\\n", $^V;'], version: /^(\d\S*)/ },
  python: { argv: ['python', '-V'], version: /^Python (\d\S*)/i },
  ruby: { argv: ['ruby', '-v'], version: /^ruby (\d\S*)/i },
  php: { argv: ['php', '-v'], version: /^PHP (\d\S*)/i },
};

/**
 * Whether a shell or interpreter is there, where, and in which version.
 *
 * @param shell `bash`, `zsh`, `tcsh`, `perl`, `python`, `ruby` or `php`
 * @param list_modules has no effect: it is for PowerShell
 * @example tsalt-ssh '*' cmd.shell_info bash
 */
export const shell_info = async (
  shell: string,
  { list_modules: _list_modules = false }: { list_modules?: boolean } = {},
): Promise<PlainDict> => {
  const known = Object.hasOwn(versions, shell) ? versions[shell] : undefined;
  if (!known)
    return {
      error: `Salt does not know how to get the version number for ${shell}`,
      installed: null,
    };
  const path = findCommand(known.argv[0]);
  if (path === undefined)
    return {
      error: `Unable to run command '${known.argv.join(' ')}' Reason: it is not installed`,
      installed: false,
    };
  const { stdout, stderr } = await runCommand(known.argv, { plainLocale: true, timeout: 10 });
  const raw = known.version.exec(`${stdout}${stderr}`)?.[1];
  const numbers = /^[\d.]*\d/
    .exec(raw ?? '')?.[0]
    .split('.')
    .slice(0, 3);
  if (raw === undefined || numbers === undefined)
    return {
      installed: null,
      path,
      error: `The version regex pattern for shell ${shell}, could not find the version string`,
      stdout,
    };
  const version = numbers.length === 1 ? [...numbers, '0'] : numbers;
  return { installed: true, path, version_raw: raw, version: version.join('.') };
};

/**
 * Writes a message to a terminal.
 *
 * @param device `tty0`, `pts3`
 * @param echo the message
 * @example tsalt-ssh '*' cmd.tty pts3 'Going down in five minutes'
 */
export const tty = async (device: string, echo = ''): Promise<Record<string, string>> => {
  const [, kind, number] = device.match(/^(tty|pts\/?)(\w*)$/) ?? [];
  if (kind === undefined) return { Error: 'The specified device is not a valid TTY' };
  const path = kind === 'tty' ? `/dev/tty${number}` : `/dev/pts/${number}`;
  try {
    // 'r+' opens only existing files, so a message never creates one.
    await writeFile(path, echo, { flag: 'r+' });
    return { Success: `Message was successfully echoed to ${path}` };
  } catch {
    return { Error: `Echoing to ${path} returned error` };
  }
};

/** Not supported: a command of PowerShell is run by `cmd.run` with `shell=pwsh`. */
export const powershell = async (cmd: string): Promise<never> =>
  notDone('cmd.powershell', 'run a command of PowerShell by cmd.run with shell=pwsh', cmd);

/** Not supported: a command of PowerShell is run by `cmd.run_all` with `shell=pwsh`. */
export const powershell_all = async (cmd: string): Promise<never> =>
  notDone('cmd.powershell_all', 'run a command of PowerShell by cmd.run_all with shell=pwsh', cmd);
