import { program } from '../loader/programs.ts';
import type { Host } from '../protocol/host.ts';

/**
 * Returns the shell command of `clean`, `loader/clean.sh`: removes the remains of runs on a host
 * (artifacts, an uploaded Node) from all possible folders of the workspace, if they belong to the
 * login user. In a `thin_dir`, which may contain other files, only ours are removed. A workspace in
 * use by a run or a rollback is kept; the command then fails.
 */
export const cleanCommand = ({ thin_dir = '' }: Pick<Host, 'thin_dir'>): string =>
  `/bin/sh -c '${program('clean')}' clean '${thin_dir.replaceAll("'", "'\\''")}'`;
