/**
 * Load, memory, disks and uptime of the host.
 *
 * @platform linux
 */

import { cpus, freemem, loadavg as loads, totalmem, uptime as up } from 'node:os';
import { fnmatch } from '../../../../data/python/glob.ts';
import { listProcesses } from '../../../_shared/commands/processes.ts';
import { runCommand } from '../../../_shared/commands/run-command.ts';
import { readMounts } from '../../../_shared/files/mounts.ts';
import { userName } from '../../../_shared/files/owner-names.ts';
import { readOr } from '../../../_shared/files/read-file.ts';
import { statfs } from '../../../_shared/safe-fs/promises.ts';
import { pythonRegex } from '../../../_shared/text/python-regex.ts';
import type { PlainDict } from '../../../api.ts';

/**
 * How long this machine has been up.
 *
 * @example tsalt-ssh '*' status.uptime
 */
export const uptime = async (): Promise<PlainDict> => {
  const seconds = Math.floor(up());
  const since = new Date(Date.now() - seconds * 1000);
  return {
    seconds,
    since_iso: since.toISOString().replace('Z', ''),
    since_t: Math.floor(since.getTime() / 1000),
    days: Math.floor(seconds / 86_400),
    time: `${Math.floor((seconds % 86_400) / 3600)}:${Math.floor((seconds % 3600) / 60)}`,
    users: (await w()).length,
  };
};

/**
 * The load of the last 1, 5 and 15 minutes.
 *
 * @example tsalt-ssh '*' status.loadavg
 */
export const loadavg = async (): Promise<PlainDict> => {
  const [one = 0, five = 0, fifteen = 0] = loads();
  return { '1-min': one, '5-min': five, '15-min': fifteen };
};

/**
 * Returns memory figures from /proc/meminfo.
 *
 * @example tsalt-ssh '*' status.meminfo
 */
export const meminfo = async (): Promise<PlainDict> => {
  const text = readOr('/proc/meminfo');
  if (text === undefined)
    return {
      MemTotal: { value: String(Math.floor(totalmem() / 1024)), unit: 'kB' },
      MemFree: { value: String(Math.floor(freemem() / 1024)), unit: 'kB' },
    };
  return Object.fromEntries(
    [...text.matchAll(/^(\S+):\s+(\d+)(?: (\S+))?$/gm)].map(([, key = '', value = '', unit]) => [
      key,
      unit ? { value, unit } : { value },
    ]),
  );
};

/**
 * Returns the processors from /proc/cpuinfo.
 *
 * @example tsalt-ssh '*' status.cpuinfo
 */
export const cpuinfo = async (): Promise<PlainDict> => {
  const block = (readOr('/proc/cpuinfo') ?? '').split(/\n\n/)[0] ?? '';
  return Object.fromEntries(
    [...block.matchAll(/^(\S[^:]*?)\s*:\s*(.*)$/gm)].map(([, key = '', value = '']) => [
      key,
      key === 'flags' || key === 'Features' ? value.split(/\s+/) : value,
    ]),
  );
};

/**
 * How many bytes file systems have, and how many are free.
 *
 * @param args paths, or types of file systems (globs); all file systems by default
 * @example tsalt-ssh '*' status.diskusage /home 'ext?'
 */
export const diskusage = async (...args: string[]): Promise<PlainDict> => {
  const types = args.length === 0 ? ['*'] : args.filter(arg => !arg.startsWith('/'));
  const mounted = readMounts()
    .filter(({ type }) => types.some(pattern => fnmatch(type, pattern)))
    .map(({ path }) => path);
  const usage: PlainDict = {};
  for (const path of new Set([...args.filter(arg => arg.startsWith('/')), ...mounted]))
    usage[path] = await statfs(path).then(
      ({ blocks, bavail, bsize }) => ({ available: bavail * bsize, total: blocks * bsize }),
      () => ({ available: null, total: null }),
    );
  return usage;
};

/**
 * The running processes by pid.
 *
 * @example tsalt-ssh '*' status.procs
 */
export const procs = async (): Promise<PlainDict> =>
  Object.fromEntries(
    (await listProcesses()).map(({ pid, uid, command }) => [
      String(pid),
      { user: String(userName(uid)), cmd: command },
    ]),
  );

/**
 * The pids of processes whose command line this matches, one per line.
 *
 * @param sig a regular expression
 * @example tsalt-ssh '*' status.pid sshd
 */
export const pid = async (sig: string): Promise<string> => {
  const pattern = pythonRegex(sig);
  return (await listProcesses())
    .filter(one => one.pid !== process.pid && pattern.test(one.command))
    .map(one => one.pid)
    .join('\n');
};

/**
 * Lists the users who are logged in.
 *
 * @example tsalt-ssh '*' status.w
 */
export const w = async (): Promise<PlainDict[]> => {
  const { stdout } = await runCommand(['w', '-fh'], { plainLocale: true, cwd: '/' });
  return stdout
    .split('\n')
    .map(line => line.trim().split(/\s+/))
    .filter(([user]) => user !== undefined && user !== '')
    .map(([user = '', tty = '', login = '', idle = '', jcpu = '', pcpu = '', ...what]) => ({
      idle,
      jcpu,
      login,
      pcpu,
      tty,
      user,
      what: what.join(' '),
    }));
};

/**
 * How many processors there are.
 *
 * @example tsalt-ssh '*' status.nproc
 */
export const nproc = async (): Promise<number> => cpus().length;

/**
 * The time of this machine, formatted as strftime does (`%Y-%m-%d`).
 *
 * @param format the format
 * @example tsalt-ssh '*' status.time '%Y-%m-%d %H:%M'
 */
export const time = async (format = '%A, %d. %B %Y %I:%M%p'): Promise<string> => {
  const { stdout } = await runCommand(['date', `+${format}`], { plainLocale: true });
  return stdout.trimEnd();
};

/**
 * The kernel and build of this machine.
 *
 * @example tsalt-ssh '*' status.version
 */
export const version = async (): Promise<string> => (readOr('/proc/version') ?? '').trim();
