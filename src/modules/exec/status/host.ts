/**
 * Load, memory, disks and uptime of the host.
 *
 * @platform linux
 */
import { statfs } from 'node:fs/promises';
import { cpus, freemem, loadavg as loads, totalmem, uptime as up } from 'node:os';
import type { PlainDict } from '../../api.ts';
import { listProcesses } from '../../lib/processes.ts';
import { readOr } from '../../lib/read-file.ts';
import { runCommand } from '../../lib/run-command.ts';

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
    time: `${Math.floor((seconds % 86_400) / 3600)}:${String(Math.floor((seconds % 3600) / 60)).padStart(2, '0')}`,
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
 * Memory as /proc/meminfo tells it.
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
 * Processors as /proc/cpuinfo tells them.
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
 * How much of file systems is used.
 *
 * @param args paths; `/` by default
 * @example tsalt-ssh '*' status.diskusage /home
 */
export const diskusage = async (...args: string[]): Promise<PlainDict> => {
  const usage: PlainDict = {};
  for (const path of args.length > 0 ? args : ['/']) {
    const { blocks, bavail, bsize } = await statfs(path);
    usage[path] = { available: bavail * bsize, total: blocks * bsize };
  }
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
      { user: String(uid), cmd: command },
    ]),
  );

/**
 * The pids of processes with this text in their command line, one per line.
 *
 * @param sig the text
 * @example tsalt-ssh '*' status.pid sshd
 */
export const pid = async (sig: string): Promise<string> =>
  (await listProcesses())
    .filter(one => one.pid !== process.pid && one.command.includes(sig))
    .map(one => one.pid)
    .join('\n');

/**
 * Who is logged in.
 *
 * @example tsalt-ssh '*' status.w
 */
export const w = async (): Promise<PlainDict[]> => {
  const { stdout } = await runCommand(['w', '-h'], { plainLocale: true, cwd: '/' });
  return stdout
    .split('\n')
    .map(line => line.trim().split(/\s+/))
    .filter(([user]) => user !== undefined && user !== '')
    .map(([user = '', tty = '', login = '', idle = '', ...what]) => ({
      user,
      tty,
      login,
      idle,
      what: what.slice(2).join(' '),
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
