import { runCommand } from '../../../_shared/commands/run-command.ts';
import { readOr } from '../../../_shared/files/read-file.ts';
import { existsSync } from '../../../_shared/safe-fs/fs.ts';
import type { PlainDict } from '../../../api.ts';

const sumOf = (all: readonly Record<string, number>[]): Record<string, number> => {
  const sum: Record<string, number> = {};
  for (const one of all)
    for (const [key, value] of Object.entries(one)) sum[key] = (sum[key] ?? 0) + value;
  return sum;
};

/** A table of /proc by the names of its rows. */
const rowsOf = (file: string, separator: RegExp): [string, number[]][] =>
  (readOr(file) ?? '')
    .split('\n')
    .filter(line => separator.test(line))
    .map(line => {
      const [name = '', counts = ''] = line.trim().split(separator, 2);
      return [name.trim(), counts.trim().split(/\s+/).map(Number)];
    });

/**
 * Returns the network counters: bytes, packets, errors; false for an unknown interface.
 *
 * @param interface only this one
 * @example tsalt-ssh '*' ps.network_io_counters interface=eth0
 */
export const network_io_counters = async ({
  interface: only = null,
}: {
  interface?: string | null;
} = {}): Promise<PlainDict | false> => {
  const all = new Map(
    rowsOf('/proc/net/dev', /:/).map(([name, counts]) => {
      const at = (index: number): number => counts[index] ?? 0;
      return [
        name,
        {
          bytes_sent: at(8),
          bytes_recv: at(0),
          packets_sent: at(9),
          packets_recv: at(1),
          errin: at(2),
          errout: at(10),
          dropin: at(3),
          dropout: at(11),
        },
      ];
    }),
  );
  return only ? (all.get(only) ?? false) : sumOf([...all.values()]);
};

/**
 * Returns the read and write counters of disks; false for an unknown disk.
 *
 * @param device only this disk or partition
 * @example tsalt-ssh '*' ps.disk_io_counters device=sda1
 */
export const disk_io_counters = async (
  device: string | null = null,
): Promise<PlainDict | false> => {
  const sector = 512;
  const all = new Map(
    (readOr('/proc/diskstats') ?? '')
      .split('\n')
      .filter(Boolean)
      .map(line => {
        const [, , name = '', ...counts] = line.trim().split(/\s+/);
        const at = (index: number): number => Number(counts[index] ?? 0);
        return [
          name,
          {
            read_count: at(0),
            write_count: at(4),
            read_bytes: at(2) * sector,
            write_bytes: at(6) * sector,
            read_time: at(3),
            write_time: at(7),
            read_merged_count: at(1),
            write_merged_count: at(5),
            busy_time: at(9),
          },
        ];
      }),
  );
  if (device) return all.get(device) ?? false;
  // A partition's counts are in those of its disk.
  const disks = [...all].filter(([name]) => existsSync(`/sys/block/${name.replaceAll('/', '!')}`));
  return sumOf(disks.map(([, counts]) => counts));
};

/**
 * Lists the users who are logged in: name, terminal, host, and since when.
 *
 * @example tsalt-ssh '*' ps.get_users
 */
export const get_users = async (): Promise<PlainDict[]> => {
  const { stdout } = await runCommand(['who', '-u'], { plainLocale: true, cwd: '/' });
  return stdout.split('\n').flatMap(line => {
    const [, name, terminal, since, pid, host] =
      line.match(/^(\S+)\s+(\S+)\s+(\w{3}\s+\d+ \d\d:\d\d)\s+\S+\s+(\d+)(?:\s+\((.*)\))?$/) ?? [];
    if (!name || !terminal || !since) return [];
    return [{ name, terminal, host: host ?? '', started: startOf(since), pid: Number(pid) }];
  });
};

/** `Nov 21 22:33` as seconds since 1970: the last time there was such a day. */
const startOf = (text: string, now = new Date()): number => {
  const at = (year: number): number => Date.parse(`${text} ${year}`);
  const thisYear = at(now.getFullYear());
  const soon = now.getTime() + 86_400_000;
  return (thisYear > soon ? at(now.getFullYear() - 1) : thisYear) / 1000;
};
