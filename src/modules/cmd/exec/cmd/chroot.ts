import { join, relative, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { isDir, isFile } from '../../../_shared/files/file-paths.ts';
import { readdirSync, readlinkSync } from '../../../_shared/safe-fs/fs.ts';
import { salt } from '../../../_shared/states/call.ts';
import { log } from '../../../api.ts';
import type { CommandRunOptions, RunAllResult } from '../../cmd-options.ts';
import { run_all } from './run.ts';

/**
 * Runs a command inside another root folder, with /dev, /proc and /sys mounted there meanwhile.
 * Arguments as `cmd.run_all`.
 *
 * @param root the folder that is / for the command
 * @param cmd the command line
 * @param binds folders of this system that are mounted there, too
 * @example tsalt-ssh '*' cmd.run_chroot /srv/jail 'id'
 */
export const run_chroot = async (
  root: string,
  cmd: string | string[],
  {
    cwd = null,
    stdin = null,
    runas = null,
    group = null,
    shell: _shell = null,
    python_shell: _python_shell = true,
    binds = null,
    ...options
  }: CommandRunOptions & { binds?: string[] | null } = {},
): Promise<RunAllResult> => {
  const mounted: string[] = [];
  const mount = async (place: string, ...args: unknown[]): Promise<void> => {
    if (!isDir(place)) return;
    const done = await salt('mount.mount')(place, ...args);
    if (done === true) mounted.unshift(place);
    else log.warning(`${place} was not mounted: ${done}`);
  };
  try {
    await mount(join(root, 'dev'), 'devtmpfs', false, 'devtmpfs');
    await mount(join(root, 'proc'), 'proc', false, 'proc');
    await mount(join(root, 'sys'), 'sysfs', false, 'sysfs');
    for (const folder of binds ?? [])
      await mount(join(root, relative('/', folder)), folder, false, '', 'bind');
    const line = Array.isArray(cmd) ? cmd.map(String).join(' ') : cmd;
    const sh = isFile(join(root, 'bin/bash')) ? '/bin/bash' : '/bin/sh';
    const who = runas || group ? [`--userspec=${runas ?? ''}:${group ?? ''}`] : [];
    return await run_all(['chroot', ...who, root, sh, '-c', line], { ...options, cwd, stdin });
  } finally {
    await endProcessesIn(root);
    for (const place of mounted) await salt('mount.umount')(place);
  }
};

/** Ends processes that a command left running inside: they would keep the mounts busy. */
const endProcessesIn = async (root: string): Promise<void> => {
  if (resolve(root) === '/') return;
  const inside = resolve(root);
  for (const signal of ['SIGTERM', 'SIGTERM', 'SIGKILL'] as const) {
    const pids = processesIn(inside);
    if (pids.length === 0) return;
    for (const pid of pids)
      try {
        process.kill(pid, signal);
      } catch {
        // the process has ended in the meantime
      }
    await setTimeout(100);
  }
  if (processesIn(inside).length > 0)
    log.error(`Processes in ${root} do not end: its file systems stay mounted`);
};

const processesIn = (root: string): number[] =>
  readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .filter(pid => {
      try {
        const place = readlinkSync(`/proc/${pid}/root`);
        return place === root || place.startsWith(`${root}/`);
      } catch {
        return false;
      }
    })
    .map(Number);
