import { type CommandResult, runCommand } from '../_shared/commands/run-command.ts';
import { plainStr } from '../_shared/text/python-text.ts';
import { CommandExecutionError, log, type Plain, SaltInvocationError } from '../api.ts';

export const runLvm = (command: string, ...args: string[]): Promise<CommandResult> =>
  runCommand([command, ...args], {
    plainLocale: true,
    cwd: '/',
    env: { LVM_SUPPRESS_FD_WARNINGS: '1' },
  });

/** Runs a command that changes something. */
export const changeLvm = async (command: string, ...args: string[]): Promise<void> => {
  const { code, stdout, stderr } = await runLvm(command, ...args);
  if (code !== 0)
    throw new CommandExecutionError(stderr.trim() || stdout.trim() || `${command} failed`);
};

/** Volumes by name, each with its fields under these names, from `-c` of a display command. */
export type Volumes = { [name: string]: { [field: string]: string } };

export const displayLvm = async (
  command: string,
  name: string,
  fields: readonly string[],
  quiet: boolean,
): Promise<Volumes> => {
  const { code, stdout, stderr } = await runLvm(
    command,
    '-c',
    ...(name === '' ? [] : ['--', name]),
  );
  if (code === 0) return parseDisplay(stdout, fields);
  if (!quiet) log.error(`${command}: ${stderr.trim()}`);
  return {};
};

/** Lines of fields with colons between them. */
export const parseDisplay = (text: string, fields: readonly string[]): Volumes => {
  const volumes: Volumes = {};
  for (const line of text.split('\n')) {
    const values = line.trim().split(':');
    if (values.length < fields.length || line.includes('is a new physical volume')) continue;
    volumes[values[0] ?? ''] = Object.fromEntries(
      fields.map((field, at) => [field, values[at] ?? '']),
    );
  }
  return volumes;
};

/**
 * Further arguments of a function as options of its command.
 *
 * @param flags options without a value
 */
export const lvmOptions = (
  given: { readonly [name: string]: unknown },
  valued: readonly string[],
  flags: readonly string[] = [],
): string[] =>
  Object.entries(given).flatMap(([name, value]) => {
    if (!valued.includes(name) && !flags.includes(name))
      throw new SaltInvocationError(
        `LVM has no option ${name} here. Known are ${[...valued, ...flags].join(', ')}.`,
      );
    if (value === null || value === undefined || value === '' || value === false) return [];
    return flags.includes(name) ? [`--${name}`] : [`--${name}`, plainStr(value)];
  });

/** Converts a size in LVM's syntax to megabytes: `10G`, `512`, `2048S`, `1.5t`. */
export const megabytes = (size: Plain): number => {
  const match = /^(\d+(?:\.\d+)?)([smgtp]?)b?$/.exec(plainStr(size).toLowerCase());
  if (!match) throw new SaltInvocationError(`Size ${plainStr(size)} is invalid.`);
  const factors: Record<string, number> = {
    s: 1 / 2048,
    m: 1,
    g: 1024,
    t: 1024 ** 2,
    p: 1024 ** 3,
  };
  return Number(match[1]) * (factors[match[2] || 'm'] ?? 1);
};
