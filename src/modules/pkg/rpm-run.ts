import { type CommandResult, runCommand } from '../_shared/commands/run-command.ts';

/** Runs rpm, optionally on the system below a folder; times are in UTC. */
export const rpm = (
  args: readonly string[],
  root: string | null | undefined = null,
): Promise<CommandResult> =>
  runCommand(['rpm', ...(root ? ['--root', root] : []), ...args], {
    plainLocale: true,
    cwd: '/',
    env: { TZ: 'UTC' },
  });

/** Formats a time as Salt does for packages: `2024-01-31T12:00:00Z`. */
export const rpmTime = (seconds: number): string =>
  new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
