import { type CommandResult, runCommand } from '../_shared/commands/run-command.ts';

/** Runs rpm, on the system below a folder where one is given; times are written in UTC. */
export const rpm = (
  args: readonly string[],
  root: string | null | undefined = null,
): Promise<CommandResult> =>
  runCommand(['rpm', ...(root ? ['--root', root] : []), ...args], {
    plainLocale: true,
    cwd: '/',
    env: { TZ: 'UTC' },
  });

/** A time as Salt writes those of packages: `2024-01-31T12:00:00Z`. */
export const rpmTime = (seconds: number): string =>
  new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
