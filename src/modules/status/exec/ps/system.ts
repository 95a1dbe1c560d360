import { cpus, totalmem, uptime } from 'node:os';
import { runCommand } from '../../../_shared/commands/run-command.ts';
import { readMounts } from '../../../_shared/files/mounts.ts';
import { readOr } from '../../../_shared/files/read-file.ts';
import { statfsSync } from '../../../_shared/safe-fs/fs.ts';
import { pythonRegex } from '../../../_shared/text/python-regex.ts';
import { CommandExecutionError, type PlainDict, SaltInvocationError } from '../../../api.ts';

/** Kilobytes of /proc/meminfo, as bytes. */
const memory = (): ((name: string) => number) => {
  const text = readOr('/proc/meminfo') ?? '';
  return name => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0) * 1024;
};

/**
 * When this machine was started: seconds since 1970, or a text by `time_format`.
 *
 * @param time_format as for `date`, `%Y-%m-%d %H:%M`
 * @example tsalt-ssh '*' ps.boot_time time_format='%Y-%m-%d'
 */
export const boot_time = async (time_format: string | null = null): Promise<number | string> => {
  const told = /^btime (\d+)$/m.exec(readOr('/proc/stat') ?? '')?.[1];
  const seconds = told === undefined ? Math.round(Date.now() / 1000 - uptime()) : Number(told);
  if (!time_format) return seconds;
  const { code, stdout, stderr } = await runCommand(
    ['date', '-d', `@${seconds}`, `+${time_format}`],
    {
      plainLocale: true,
    },
  );
  if (code !== 0) throw new SaltInvocationError(`Invalid format string: ${stderr.trim()}`);
  return stdout.trim();
};

/**
 * How many processors there are.
 *
 * @example tsalt-ssh '*' ps.num_cpus
 */
export const num_cpus = async (): Promise<number> => cpus().length;

/**
 * Bytes of memory.
 *
 * @example tsalt-ssh '*' ps.total_physical_memory
 */
export const total_physical_memory = async (): Promise<number> => totalmem();

/**
 * Memory in bytes: total, available, percent, used, free and more.
 *
 * @example tsalt-ssh '*' ps.virtual_memory
 */
export const virtual_memory = async (): Promise<PlainDict> => {
  const of = memory();
  const [total, available] = [of('MemTotal'), of('MemAvailable')];
  const cached = of('Cached') + of('SReclaimable');
  return {
    total,
    available,
    percent: percent(total - available, total),
    used: total - of('MemFree') - cached - of('Buffers'),
    free: of('MemFree'),
    active: of('Active'),
    inactive: of('Inactive'),
    buffers: of('Buffers'),
    cached,
    shared: of('Shmem'),
    slab: of('Slab'),
  };
};

/**
 * Swap in bytes: total, used, free, percent.
 *
 * @example tsalt-ssh '*' ps.swap_memory
 */
export const swap_memory = async (): Promise<PlainDict> => {
  const of = memory();
  const [total, free] = [of('SwapTotal'), of('SwapFree')];
  const pages = counters('/proc/vmstat');
  return {
    total,
    used: total - free,
    free,
    percent: percent(total - free, total),
    sin: (pages.pswpin ?? 0) * 4096,
    sout: (pages.pswpout ?? 0) * 4096,
  };
};

/** Lines of a name and a number. */
const counters = (path: string): Record<string, number> =>
  Object.fromEntries(
    (readOr(path) ?? '')
      .split('\n')
      .map(line => line.split(/\s+/))
      .map(([name = '', value]): [string, number] => [name, Number(value)]),
  );

const percent = (part: number, whole: number): number =>
  whole === 0 ? 0 : Math.round((part / whole) * 1000) / 10;

const cpuFields = [
  'user',
  'nice',
  'system',
  'idle',
  'iowait',
  'irq',
  'softirq',
  'steal',
  'guest',
  'guest_nice',
] as const;

/**
 * Seconds that the processors spent, for each way.
 *
 * @param per_cpu a list, one for each processor
 * @example tsalt-ssh '*' ps.cpu_times per_cpu=True
 */
export const cpu_times = async (per_cpu = false): Promise<PlainDict | PlainDict[]> => {
  const rows = [...(readOr('/proc/stat') ?? '').matchAll(/^cpu(\d*)\s+(.*)$/gm)].map(
    ([, number, counts = '']) => ({
      number,
      times: Object.fromEntries(
        cpuFields.map((field, at) => [field, Number(counts.split(/\s+/)[at] ?? 0) / 100]),
      ),
    }),
  );
  if (per_cpu) return rows.filter(({ number }) => number !== '').map(({ times }) => times);
  return rows.find(({ number }) => number === '')?.times ?? {};
};

/**
 * How busy the processors are within a moment, in percent.
 *
 * @param interval seconds
 * @param per_cpu a list, one for each processor
 * @example tsalt-ssh '*' ps.cpu_percent interval=1
 */
export const cpu_percent = async (
  interval = 0.1,
  { per_cpu = false }: { per_cpu?: boolean } = {},
): Promise<number | number[]> => {
  const look = () => cpus().map(({ times }) => times);
  const before = look();
  await new Promise(resolve => setTimeout(resolve, interval * 1000));
  const busy = look().map((now, at) => {
    const then = before[at] ?? now;
    const whole = (times: Record<string, number>): number =>
      Object.values(times).reduce((sum, one) => sum + one, 0);
    return percent(whole(now) - whole(then) - (now.idle - then.idle), whole(now) - whole(then));
  });
  return per_cpu
    ? busy
    : Math.round((busy.reduce((sum, one) => sum + one, 0) / busy.length) * 10) / 10;
};

/**
 * The file systems that are mounted: device, mountpoint, fstype, opts.
 *
 * @param all also those of no disk
 * @example tsalt-ssh '*' ps.disk_partitions
 */
export const disk_partitions = async (all = false): Promise<PlainDict[]> => {
  const mounts = readMounts();
  if (mounts.length === 0) throw new CommandExecutionError('This host has no /proc/self/mounts.');
  const shown = mounts.filter(({ device }) => all || device.startsWith('/dev/'));
  const longest = await longestNames(shown.map(({ path }) => path));
  return shown.map(({ device, path, type, options }) => ({
    device,
    mountpoint: path,
    fstype: type,
    opts: options.join(','),
    maxfile: longest.get(path) ?? null,
    maxpath: 4096,
  }));
};

/** How long a name may be on each file system. */
const longestNames = async (paths: readonly string[]): Promise<Map<string, number>> => {
  if (paths.length === 0) return new Map();
  const { stdout } = await runCommand(['stat', '-f', '-c', '%l %n', '--', ...paths], {
    plainLocale: true,
    timeout: 10,
  });
  return new Map(
    stdout.split('\n').flatMap(line => {
      const [, length, path] = /^(\d+) (.*)$/.exec(line) ?? [];
      return path === undefined ? [] : [[path, Number(length)] as const];
    }),
  );
};

/**
 * The file system a path is on, in bytes.
 *
 * @param path the path
 * @example tsalt-ssh '*' ps.disk_usage /home
 */
export const disk_usage = async (path: string): Promise<PlainDict> => {
  try {
    const { bavail, bfree, blocks, bsize } = statfsSync(path);
    const used = (blocks - bfree) * bsize;
    return {
      total: blocks * bsize,
      used,
      free: bavail * bsize,
      percent: percent(used, used + bavail * bsize),
    };
  } catch (cause) {
    throw new CommandExecutionError(`There is no ${path}.`, { cause });
  }
};

/**
 * How full each file system of a disk is, with where it is mounted.
 *
 * @param all also those of no disk
 * @example tsalt-ssh '*' ps.disk_partition_usage
 */
export const disk_partition_usage = async (all = false): Promise<PlainDict[]> => {
  const partitions = await disk_partitions(all);
  return Promise.all(
    partitions.map(async one => ({ ...one, ...(await disk_usage(String(one.mountpoint))) })),
  );
};

/**
 * The processes as `ps aux` lists them that match a name.
 *
 * @param name a regular expression for the line
 * @example tsalt-ssh '*' ps.psaux www-data.+apache2
 */
export const psaux = async (name: string): Promise<[string, string[], string]> => {
  const { stdout } = await runCommand(['ps', 'aux'], { plainLocale: true });
  const pattern = pythonRegex(name);
  const lines = stdout.split('\n').filter(line => line !== '' && pattern.test(line));
  return [name, lines, `${lines.length} occurrence(s).`];
};

/**
 * Sockets as `ss -neap` lists them that match a name.
 *
 * @param name text of the line
 * @example tsalt-ssh '*' ps.ss sshd
 */
export const ss = async (name: string): Promise<[string, string[]]> =>
  linesWith(['ss', '-neap'], name);

/**
 * Sockets as `netstat -nap` lists them that match a name.
 *
 * @param name text of the line
 * @example tsalt-ssh '*' ps.netstat nginx
 */
export const netstat = async (name: string): Promise<[string, string[]]> =>
  linesWith(['netstat', '-nap'], name);

const linesWith = async (
  argv: readonly [string, ...string[]],
  name: string,
): Promise<[string, string[]]> => {
  const { stdout } = await runCommand(argv, { plainLocale: true });
  return [name, stdout.split('\n').filter(line => line.includes(name))];
};

/**
 * Open files of the processes whose name begins so, as `lsof -c` lists them.
 *
 * @param name how the name begins
 * @example tsalt-ssh '*' ps.lsof apache2
 */
export const lsof = async (name: string): Promise<[string, string]> => {
  const { stdout } = await runCommand(['lsof', '-c', name], { plainLocale: true });
  return [name, stdout];
};
