import { dirname, resolve } from 'node:path';
import { statSync } from '../safe-fs/fs.ts';
import { realPath } from './file-paths.ts';
import { decodeFstabField } from './fstab.ts';
import { readOr } from './read-file.ts';

/** A line of /proc/self/mounts. */
export type Mount = {
  readonly device: string;
  readonly path: string;
  readonly type: string;
  readonly options: readonly string[];
};

/** The mounted file systems, in order: of two on one mount point, the later hides the earlier. */
export const readMounts = (): Mount[] =>
  (readOr('/proc/self/mounts') ?? '')
    .split('\n')
    .filter(Boolean)
    .map(line => {
      const [device = '', path = '', type = '', options = ''] = line
        .split(' ')
        .map(decodeFstabField);
      return { device, path, type, options: options.split(',') };
    });

/** Where the file system of a path is mounted: the next folder above that is on another one. */
export const mountPointOf = (path: string): string => {
  let at = realPath(resolve(path));
  while (at !== '/' && !isMountPoint(at)) at = dirname(at);
  return at;
};

const isMountPoint = (path: string): boolean => {
  const here = statSync(path, { throwIfNoEntry: false });
  const above = statSync(dirname(path), { throwIfNoEntry: false });
  return here !== undefined && above !== undefined && here.dev !== above.dev;
};

/** The device that a path is on. */
export const deviceAt = (path: string): string | undefined => {
  const point = mountPointOf(path);
  return readMounts().findLast(mount => mount.path === point)?.device;
};

/**
 * Whether what is mounted is the device of a state: `/dev/disk/by-uuid/…` and the device it leads to
 * are the same.
 */
export const isMountedDevice = (current: string, device: string): boolean => {
  const named = device.match(/^(UUID|LABEL|PARTUUID|PARTLABEL)="?([^"]*)"?$/);
  const wanted = named ? `/dev/disk/by-${named[1]?.toLowerCase()}/${named[2]}` : device;
  // sshfs#host:path is mounted as host:path.
  const fuse = /^\w+#(.+)/.exec(device)?.[1];
  return [device, fuse].includes(current) || realPath(current) === realPath(wanted);
};

export const isSameMountPoint = (one: string, other: string): boolean => {
  const [a, b] = [one, other].map(path => statSync(path, { throwIfNoEntry: false }));
  return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino;
};
