/**
 * Usage and properties of disks.
 *
 * @platform linux
 */
import { readFileSync, type StatsFs, statfsSync } from 'node:fs';
import { runChecked } from '../lib/run-command.ts';

type Usage = {
  filesystem: string;
  '1K-blocks': string;
  used: string;
  available: string;
  capacity: string;
};

/**
 * How full the file systems are, by mount point, in units of 1 KiB.
 *
 * @param args flags of `df`: `l` leaves out network file systems
 *
 * @example tsalt-ssh '*' disk.usage
 */
export const usage = async (args: string | null = null): Promise<Record<string, Usage>> => {
  const skip = args?.includes('l') ? /^(nfs|cifs|smb|9p|fuse\.sshfs)/ : undefined;
  return Object.fromEntries(
    mounts()
      .filter(({ type }) => !skip?.test(type))
      .flatMap(({ device, path }): [string, Usage][] => {
        const found = statfsOf(path);
        if (!found || found.blocks === 0) return [];
        const kib = (blocks: number): number => Math.floor((blocks * found.bsize) / 1024);
        const used = found.blocks - found.bfree;
        const full = Math.ceil((used / (used + found.bavail || 1)) * 100);
        return [
          [
            path,
            {
              filesystem: device,
              '1K-blocks': String(kib(found.blocks)),
              used: String(kib(used)),
              available: String(kib(found.bavail)),
              capacity: `${full}%`,
            },
          ],
        ];
      }),
  );
};

/**
 * How full the file systems are, in percent, by mount point.
 *
 * @param args one mount point: only its number
 *
 * @example tsalt-ssh '*' disk.percent /var
 */
export const percent = async (
  args: string | null = null,
): Promise<Record<string, string> | string | null> => {
  const all = Object.fromEntries(
    Object.entries(await usage()).map(([path, { capacity }]) => [path, capacity]),
  );
  return args === null ? all : (all[args] ?? null);
};

/**
 * How many inodes the file systems have, by mount point.
 *
 * @param _args accepted for compatibility
 *
 * @example tsalt-ssh '*' disk.inodeusage
 */
export const inodeusage = async (
  _args: string | null = null,
): Promise<Record<string, Record<string, string>>> =>
  Object.fromEntries(
    mounts().flatMap(({ device, path }) => {
      const found = statfsOf(path);
      if (!found || found.files === 0) return [];
      const used = found.files - found.ffree;
      return [
        [
          path,
          {
            filesystem: device,
            inodes: String(found.files),
            used: String(used),
            free: String(found.ffree),
            use: `${Math.ceil((used / found.files) * 100)}%`,
          },
        ],
      ];
    }),
  );

/**
 * What `blkid` knows of block devices: UUID, TYPE, LABEL.
 *
 * @param device one device
 *
 * @example tsalt-ssh '*' disk.blkid /dev/sda1
 */
export const blkid = async (
  device: string | null = null,
): Promise<Record<string, Record<string, string>>> => {
  const { stdout } = await runChecked(['blkid', ...(device ? ['--', device] : [])], {
    plainLocale: true,
  });
  return Object.fromEntries(
    stdout
      .split('\n')
      .filter(Boolean)
      .map(line => {
        const name = line.slice(0, line.indexOf(':'));
        const pairs = [...line.matchAll(/([A-Z_]+)="([^"]*)"/g)];
        return [name, Object.fromEntries(pairs.map(([, key, value]) => [key, value ?? '']))];
      }),
  );
};

const mounts = (): { device: string; path: string; type: string }[] => {
  const seen = new Map<string, { device: string; path: string; type: string }>();
  for (const line of readFileSync('/proc/self/mounts', 'utf8').split('\n')) {
    const [device, path, type] = line.split(' ').map(plainPath);
    if (device && path && type) seen.set(path, { device, path, type });
  }
  return [...seen.values()];
};

const plainPath = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)));

const statfsOf = (path: string): StatsFs | undefined => {
  try {
    return statfsSync(path);
  } catch {
    return undefined;
  }
};
