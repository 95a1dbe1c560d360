import { totalmem } from 'node:os';
import { userName } from '../_shared/files/owner-names.ts';
import { readOr } from '../_shared/files/read-file.ts';
import { readdirSync, readFileSync, readlinkSync } from '../_shared/safe-fs/fs.ts';
import type { Plain, PlainDict } from '../api.ts';

/** Ticks of a second in /proc/PID/stat: Linux shows 100 whatever the kernel counts with. */
const ticks = 100;

const states: Readonly<Record<string, string>> = {
  R: 'running',
  S: 'sleeping',
  D: 'disk-sleep',
  T: 'stopped',
  t: 'tracing-stop',
  Z: 'zombie',
  X: 'dead',
  x: 'dead',
  K: 'wake-kill',
  W: 'waking',
  I: 'idle',
  P: 'parked',
};

/** The name of a process state, as the ps functions return it. */
export const stateName = (letter: string): string => states[letter] ?? letter;

/** Fields of /proc/PID/stat behind the name, which may hold anything; the first is the state. */
const statOf = (pid: number | string): string[] | undefined => {
  const text = readOr(`/proc/${pid}/stat`);
  return text?.slice(text.lastIndexOf(')') + 2).split(' ');
};

const bootTime = (): number => Number(/^btime (\d+)$/m.exec(readOr('/proc/stat') ?? '')?.[1] ?? 0);

const lineOf = (pid: number, key: string): string[] =>
  new RegExp(`^${key}:\\s*(.*)$`, 'm')
    .exec(readOr(`/proc/${pid}/status`) ?? '')?.[1]
    ?.split(/\s+/) ?? [];

/** Null for values this user may not read, as the environment of another user's process. */
const whereAllowed = <T extends Plain>(look: () => T): T | null => {
  try {
    return look();
  } catch {
    return null;
  }
};

export type CpuTimes = {
  user: number;
  system: number;
  children_user: number;
  children_system: number;
  iowait: number;
};

/** Seconds that a process spent, or a thread (`PID/task/ID`); undefined when it is gone. */
export const cpuTimesOf = (pid: number | string): CpuTimes | undefined => {
  const stat = statOf(pid);
  if (!stat) return undefined;
  const at = (index: number): number => Number(stat[index] ?? 0) / ticks;
  return {
    user: at(11),
    system: at(12),
    children_user: at(13),
    children_system: at(14),
    iowait: at(39),
  };
};

/** Memory in bytes, from the kernel's sizes in kB, since page sizes differ between machines. */
export const memoryOf = (pid: number): PlainDict => {
  const bytes = (...keys: string[]): number =>
    keys.reduce((sum, key) => sum + Number(lineOf(pid, key)[0] ?? 0) * 1024, 0);
  return {
    rss: bytes('VmRSS'),
    vms: bytes('VmSize'),
    shared: bytes('RssFile', 'RssShmem'),
    text: bytes('VmExe'),
    lib: bytes('VmLib'),
    data: bytes('VmData', 'VmStk'),
  };
};

/** Seconds since 1970. */
export const createTimeOf = (pid: number): number =>
  bootTime() + Number(statOf(pid)?.[19] ?? 0) / ticks;

export const commandOf = (pid: number): string[] =>
  (readOr(`/proc/${pid}/cmdline`) ?? '').replace(/\0$/, '').split('\0').filter(Boolean);

export const userOf = (pid: number): string | null => {
  const uid = lineOf(pid, 'Uid')[0];
  return uid === undefined ? null : String(userName(Number(uid)));
};

const three = (pid: number, key: string): PlainDict => {
  const [real = '', effective = '', saved = ''] = lineOf(pid, key);
  return { real: Number(real), effective: Number(effective), saved: Number(saved) };
};

/** `2` or `0-3` of a list in /proc. */
const numbersOf = (range: string): number[] => {
  const [first = Number.NaN, last = first] = range.split('-').map(Number);
  return Number.isInteger(first)
    ? Array.from({ length: last - first + 1 }, (_, at) => first + at)
    : [];
};

/** The facts of a process, by the names of `ps.proc_info`. */
export const processFacts: Readonly<Record<string, (pid: number) => Plain>> = {
  pid: pid => pid,
  ppid: pid => Number(statOf(pid)?.[1] ?? 0),
  name: pid => (readOr(`/proc/${pid}/comm`) ?? '').trim(),
  exe: pid => whereAllowed(() => readlinkSync(`/proc/${pid}/exe`)),
  cmdline: commandOf,
  cwd: pid => whereAllowed(() => readlinkSync(`/proc/${pid}/cwd`)),
  status: pid => stateName(statOf(pid)?.[0] ?? ''),
  username: userOf,
  uids: pid => three(pid, 'Uid'),
  gids: pid => three(pid, 'Gid'),
  create_time: createTimeOf,
  nice: pid => Number(statOf(pid)?.[16] ?? 0),
  num_threads: pid => Number(statOf(pid)?.[17] ?? 0),
  num_fds: pid => whereAllowed(() => readdirSync(`/proc/${pid}/fd`).length),
  num_ctx_switches: pid => ({
    voluntary: Number(lineOf(pid, 'voluntary_ctxt_switches')[0] ?? 0),
    involuntary: Number(lineOf(pid, 'nonvoluntary_ctxt_switches')[0] ?? 0),
  }),
  cpu_times: pid => cpuTimesOf(pid) ?? null,
  cpu_num: pid => Number(statOf(pid)?.[36] ?? 0),
  cpu_affinity: pid => (lineOf(pid, 'Cpus_allowed_list')[0] ?? '').split(',').flatMap(numbersOf),
  io_counters: pid =>
    whereAllowed(() => {
      const text = readFileSync(`/proc/${pid}/io`, 'utf8');
      const of = (key: string): number =>
        Number(new RegExp(`^${key}: (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
      return {
        read_count: of('syscr'),
        write_count: of('syscw'),
        read_bytes: of('read_bytes'),
        write_bytes: of('write_bytes'),
        read_chars: of('rchar'),
        write_chars: of('wchar'),
      };
    }),
  threads: pid =>
    whereAllowed(() =>
      readdirSync(`/proc/${pid}/task`).map(id => {
        const { user, system } = cpuTimesOf(`${pid}/task/${id}`) ?? { user: 0, system: 0 };
        return { id: Number(id), user_time: user, system_time: system };
      }),
    ),
  memory_info: memoryOf,
  memory_percent: pid => (Number(memoryOf(pid).rss) / totalmem()) * 100,
  open_files: pid =>
    whereAllowed(() =>
      readdirSync(`/proc/${pid}/fd`).flatMap((fd): PlainDict[] => {
        const path = whereAllowed(() => readlinkSync(`/proc/${pid}/fd/${fd}`));
        return path?.startsWith('/') && !path.startsWith('/dev/') ? [{ path, fd: Number(fd) }] : [];
      }),
    ),
  environ: pid =>
    whereAllowed(() =>
      Object.fromEntries(
        readFileSync(`/proc/${pid}/environ`, 'utf8')
          .split('\0')
          .filter(entry => entry.includes('='))
          .map(entry => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
      ),
    ),
};
