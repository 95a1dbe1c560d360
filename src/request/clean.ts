import { program } from '../loader/programs.ts';
import type { Host } from '../protocol/host.ts';

/**
 * The shell command of `clean`, `loader/clean.sh`: removes what runs leave on a host (artifacts, an
 * uploaded Node) from the places where a workspace can be, if they belong to the login user. Of a
 * `thin_dir`, which may hold more than ours, only what is ours goes. A workspace in which a run or
 * a guard works stays; the command then fails.
 */
export const cleanCommand = ({ thin_dir = '' }: Pick<Host, 'thin_dir'>): string =>
  `/bin/sh -c '${program('clean')}' clean '${thin_dir.replaceAll("'", "'\\''")}'`;
