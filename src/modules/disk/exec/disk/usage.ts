/**
 * Reports the usage and properties of disks.
 *
 * @platform linux, macOS
 */

import { runCommand } from '../../../_shared/commands/run-command.ts';
import { CommandExecutionError, log } from '../../../api.ts';

type Usage = {
  filesystem: string;
  '1K-blocks': string;
  used: string;
  available: string;
  capacity: string;
};

/**
 * Returns the space used on file systems by mount point, as reported by `df`, in units of 1 KiB.
 *
 * @param args single-letter flags of `df`: `l` leaves out network file systems, `a` takes all,
 *   `T` puts the type behind the device
 * @example tsalt-ssh '*' disk.usage
 */
export const usage = async (args: string | null = null): Promise<Record<string, Usage>> =>
  Object.fromEntries(
    (await df('disk.usage', '-kP', args)).map(
      ([filesystem, blocks, used, available, capacity, path]): [string, Usage] => [
        path,
        { filesystem, '1K-blocks': blocks, used, available, capacity },
      ],
    ),
  );

/**
 * Returns the inodes used on file systems by mount point, as reported by `df -i`.
 *
 * @param args single-letter flags of `df`
 * @example tsalt-ssh '*' disk.inodeusage
 */
export const inodeusage = async (
  args: string | null = null,
): Promise<Record<string, Record<string, string>>> =>
  Object.fromEntries(
    (await df('disk.inodeusage', '-iP', args)).map(
      ([filesystem, inodes, used, free, use, path]) => [
        path,
        { inodes, used, free, use, filesystem },
      ],
    ),
  );

/**
 * Returns the used space of file systems in percent, by mount point.
 *
 * @param args one mount point: only its number
 * @example tsalt-ssh '*' disk.percent /var
 */
export const percent = async (
  args: string | null = null,
): Promise<Record<string, string> | string> => {
  const all = Object.fromEntries(
    Object.entries(await usage()).map(([path, { capacity }]) => [path, capacity]),
  );
  if (!args) return all;
  const one = all[args];
  if (one === undefined) log.error(`Nothing is mounted at ${args}.`);
  return one ?? {};
};

type Row = [string, string, string, string, string, string];

/** Refuses flags that change the meaning of the output, or that take an argument. */
const flagsOf = (caller: string, args: string | null): string[] => {
  const flags = [...(args ?? '')];
  const odd = flags.find(flag => !'ahHklPTv'.includes(flag));
  if (odd !== undefined)
    throw new CommandExecutionError(`Invalid flag passed to ${caller}: ${odd}`);
  return flags.length > 0 ? [`-${flags.join('')}`] : [];
};

/** Parses the columns of `df -P`. Names and mount points may contain spaces, numbers do not. */
const df = async (caller: string, base: string, args: string | null): Promise<Row[]> => {
  const { code, stdout, stderr } = await runCommand(['df', base, ...flagsOf(caller, args)], {
    plainLocale: true,
    cwd: '/',
  });
  // If a mount point is not accessible, df fails after printing the others.
  if (code !== 0 && stdout.trim() === '') throw new CommandExecutionError(stderr.trim());
  return stdout.split('\n').flatMap((line): Row[] => {
    const found = line.match(
      /^(\S.*?)\s+([\d.]+[KMGTPE]?)\s+([\d.]+[KMGTPE]?)\s+([\d.-]+[KMGTPE]?)\s+(\d+%|-)\s+(\/.*)$/,
    );
    return found ? [found.slice(1) as Row] : [];
  });
};
