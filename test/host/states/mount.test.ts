import { mkdirSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { changedOptions } from '../../../src/modules/disk/mount-options.ts';
import { nothing } from '../../helpers/nothing.ts';
import { makeHost, type TestHost } from '../../states/runner.ts';

let host: TestHost | undefined;
afterEach(() => host?.remove());

/** A host where nothing is really mounted: `/proc/self/mounts` is given, calls are written down. */
const hostWith = (device: string, fstype: string, opts: string[]) => {
  const calls: unknown[][] = [];
  const tells =
    (name: string) =>
    async (...args: unknown[]): Promise<true> => {
      calls.push([name, ...args]);
      return true;
    };
  const made = makeHost({
    salt: {
      'mount.active': async () => ({ [join(made.root, 'mnt')]: { device, fstype, opts } }),
      'mount.mount': tells('mount'),
      'mount.remount': tells('remount'),
      'mount.umount': tells('umount'),
      'disk.blkid': async (path, token) =>
        path === '/dev/sdz1' || token === 'LABEL=data'
          ? { '/dev/sdz1': { UUID: 'aa-bb', LABEL: 'data' } }
          : {},
    },
  });
  mkdirSync(join(made.root, 'mnt'));
  host = made;
  return { made, calls, path: join(made.root, 'mnt') };
};

test('a mount with other options is remounted, and unchanged after that', async () => {
  const now = ['rw', 'relatime', 'size=1024k'];
  const { made, calls, path } = hostWith('tmpfs', 'tmpfs', now);
  const wish = { opts: ['size=1m', 'noexec', 'nofail'], persist: false };
  expect(await made.test('mount.mounted', path, 'tmpfs', 'tmpfs', wish)).toMatchObject({
    result: null,
    comment: 'Remount would be forced because options (noexec) changed',
  });
  expect(calls).toEqual([]);
  expect(await made.state('mount.mounted', path, 'tmpfs', 'tmpfs', wish)).toMatchObject({
    result: true,
    changes: { umount: 'Forced remount because options (noexec) changed' },
  });
  expect(calls).toEqual([
    ['remount', path, 'tmpfs', false, 'tmpfs', ['size=1m', 'noexec', 'nofail'], { user: null }],
  ]);
  now.push('noexec');
  expect(await made.state('mount.mounted', path, 'tmpfs', 'tmpfs', wish)).toMatchObject({
    result: true,
    changes: nothing,
    comment: 'Target was already mounted',
  });
});

test('NFS uses other options only after a new mount; the user is the one that mounts', async () => {
  const { made, calls, path } = hostWith('nas:/data', 'nfs', ['rw', 'proto=tcp', 'vers=3']);
  const run = (opts: string, more = {}) =>
    made.state('mount.mounted', path, 'nas:/data', 'nfs', { opts, persist: false, ...more });
  expect(await run('tcp,vers=3,retry=2,_netdev')).toMatchObject({ changes: nothing });
  expect(await run('tcp,vers=4', { user: 'ops' })).toMatchObject({
    result: true,
    changes: { umount: 'Forced unmount and mount because options (vers=4) changed' },
  });
  expect(calls).toEqual([
    ['umount', path, null, { user: 'ops' }],
    ['mount', path, 'nas:/data', false, 'nfs', 'tcp,vers=4', { user: 'ops' }],
  ]);
});

test('another device is taken away, unless device_name_regex permits it', async () => {
  const { made, calls, path } = hostWith('10.0.0.2:/vol', 'glusterfs', ['rw']);
  const wish = { persist: false, device_name_regex: ['10\\.0\\.0\\.[0-9]+:/vol'] };
  const name = '10.0.0.1,10.0.0.2:/vol';
  expect(await made.state('mount.mounted', path, name, 'glusterfs', wish)).toMatchObject({
    changes: nothing,
  });
  const strict = { ...wish, device_name_regex: ['10\\.0\\.0\\.9'] };
  expect(await made.state('mount.mounted', path, name, 'glusterfs', strict)).toMatchObject({
    result: true,
    changes: { umount: expect.stringContaining("devices don't match"), mount: true },
  });
  expect(calls.map(([what]) => what)).toEqual(['umount', 'mount']);
});

test('a bind mount is identified by the folder that it shows', async () => {
  const { made, calls, path } = hostWith('/dev/sda1', 'ext4', ['rw']);
  symlinkSync(path, join(made.root, 'shown'));
  const run = (device: string) =>
    made.state('mount.mounted', path, device, 'none', { opts: 'bind', persist: false });
  expect(await run(join(made.root, 'shown'))).toMatchObject({ changes: nothing });
  expect(calls).toEqual([]);
  expect(await run(made.root)).toMatchObject({ changes: { mount: true } });
});

test.each([
  ['defaults,noauto,x-systemd.automount,user', ['rw']],
  ['exec,suid,dev,async', ['rw', 'relatime']],
  ['mode=0755,uid=root,gid=root', ['rw', 'mode=755', 'uid=0', 'gid=0']],
  ['size=2G', ['size=2097152k']],
  ['size=50%', ['size=4000k']],
])('%s is what %j shows', (wanted, active) => {
  expect(changedOptions(wanted.split(','), active, 'tmpfs', {})).toEqual([]);
});

test('options are compared as the extra rules say', () => {
  const wanted = ['a', 'b=1', 'c', 'size=1m'];
  expect(changedOptions(wanted, [], 'zfs', {})).toEqual(['a', 'b=1', 'c', 'size=1024k']);
  expect(
    changedOptions(wanted, ['cc'], 'zfs', {
      extra_mount_invisible_options: ['a'],
      extra_mount_invisible_keys: ['b'],
      extra_mount_translate_options: { c: 'cc' },
      extra_mount_ignore_fs_keys: { zfs: ['size'] },
    }),
  ).toEqual([]);
  expect(changedOptions(['exec', 'ro'], ['rw', 'noexec'], 'ext4', {})).toEqual(['exec', 'ro']);
});

test('a new entry of the fstab is mounted by the name that it has there', async () => {
  const { made, calls } = hostWith('none', 'none', []);
  const config = made.write('fstab', '');
  const point = join(made.root, 'data');
  const wish = { config, mount_by: 'uuid', fs_mntops: ['noatime'] };
  const run = (name: string, options = {}) =>
    made.state('mount.fstab_present', name, `${point}/`, 'ext4', { ...wish, ...options });
  expect(await made.test('mount.fstab_present', '/dev/sdz1', point, 'ext4', wish)).toMatchObject({
    result: null,
    comment: `${point} entry will be written in ${config}.\nWill mount /dev/sdz1 on ${point}`,
  });
  expect(calls).toEqual([]);
  expect(await run('/dev/sdz1')).toMatchObject({
    result: true,
    changes: { persist: 'new' },
    comment: `${point} entry added in ${config}.\nMounted /dev/sdz1 on ${point}`,
  });
  expect(made.file('fstab')).toBe(`UUID=aa-bb\t\t${point}\text4\tnoatime\t0 0\n`);
  expect(calls).toEqual([['mount', point, 'UUID=aa-bb', false, 'ext4', 'noatime']]);
  expect(await run('LABEL=data')).toMatchObject({ changes: nothing });
  expect(await run('/dev/sdy9', { mount_by: 'label' })).toMatchObject({
    result: false,
    comment: 'Device /dev/sdy9 cannot be converted to label',
  });
  const gone = { config, mount_by: 'uuid' };
  expect(await made.state('mount.fstab_absent', '/dev/sdz1', point, gone)).toMatchObject({
    changes: { persist: 'removed' },
  });
  expect(made.file('fstab')).toBe('');
});

test('auto finds an entry by its device, or by its mount point if there is no device', async () => {
  const made = hostWith('none', 'tmpfs', []).made;
  const config = made.write('fstab', 'UUID=abc /data ext4 noatime 1 2\n# end\n');
  const set = (name: string, device: string, fstype: string, options = {}) =>
    made.call('mount.set_fstab', name, device, fstype, { config, ...options });
  expect(await set('/data2', 'UUID=abc', 'ext4')).toBe('change');
  expect(made.file('fstab')).toBe('UUID=abc\t\t/data2\text4\tdefaults\t0 0\n# end\n');
  expect(await set('/data2', 'UUID=abc', 'ext4', { opts: ['defaults'] })).toBe('present');
  expect(await set('/data2', '/dev/other', 'ext4', { match_on: 'name' })).toBe('change');
  for (const place of ['/a', '/b']) expect(await set(place, 'overlay', 'overlay')).toBe('new');
  expect(await set('/a', 'overlay', 'overlay', { opts: 'ro' })).toBe('change');
  expect(await set('none', '/swap1', 'swap')).toBe('new');
  expect(await set('none', '/swap2', 'swap')).toBe('new');
  expect(made.file('fstab').split('\n').slice(2)).toEqual([
    'overlay\t\t/a\toverlay\tro\t0 0',
    'overlay\t\t/b\toverlay\tdefaults\t0 0',
    '/swap1\t\tnone\tswap\tdefaults\t0 0',
    '/swap2\t\tnone\tswap\tdefaults\t0 0',
    '',
  ]);
  expect(Object.keys((await made.call('mount.fstab', config)) as object)).toEqual([
    '/data2',
    '/a',
    '/b',
    'none',
    'none_',
  ]);
  expect(await made.call('mount.rm_fstab', '/nowhere', null, config)).toBe(true);
});

test('a mount point is made although nothing is to be mounted, and empty names are refused', async () => {
  const { made } = hostWith('tmpfs', 'tmpfs', []);
  const config = made.write('fstab', '');
  const place = join(made.root, 'new/deep');
  const only = { mount: false, mkmnt: true, opts: 'remount,ro', config };
  expect(await made.test('mount.mounted', place, 'tmpfs', 'tmpfs', only)).toMatchObject({
    result: null,
    comment: `${place} would be created, but not mounted. ${place} needs to be written to the fstab in order to be made persistent.`,
  });
  expect(await made.state('mount.mounted', place, 'tmpfs', 'tmpfs', only)).toMatchObject({
    result: true,
    comment: `${place} was created, not mounted. Added new entry to the fstab.`,
  });
  expect(made.file('fstab')).toBe(`tmpfs\t\t${place}\ttmpfs\tro\t0 0\n`);
  const other = { ...only, opts: 'rw' };
  expect(await made.test('mount.mounted', place, 'tmpfs', 'tmpfs', other)).toMatchObject({
    result: null,
    comment: `${place} would not be mounted. The ${place} fstab entry must be updated.`,
  });
  expect(await made.state('mount.mounted', place, 'tmpfs', 'tmpfs', only)).toMatchObject({
    changes: nothing,
    comment: `${place} not mounted. Entry already exists in the fstab.`,
  });
  for (const [name, device, fstype, missing] of [
    ['', 'd', 't', 'name'],
    ['/n', '', 't', 'device'],
    ['/n', 'd', '', 'fstype'],
  ] as const)
    expect(await made.state('mount.mounted', name, device, fstype)).toMatchObject({
      result: false,
      comment: `Must provide ${missing} to mount.mounted`,
    });
  expect(await made.state('mount.unmounted', '')).toMatchObject({ result: false });
});

test('empty options are the usual ones, then and in the fstab', async () => {
  const { made, calls, path } = hostWith('tmpfs', 'tmpfs', ['rw']);
  const config = made.write('fstab', '');
  expect(await made.state('mount.mounted', path, 'tmpfs', 'tmpfs', { opts: '', config })).toEqual(
    expect.objectContaining({ result: true, changes: { persist: 'new' } }),
  );
  expect(calls).toEqual([]);
  expect(made.file('fstab')).toBe(`tmpfs\t\t${path}\ttmpfs\tdefaults\t0 0\n`);
});

test('a mount of another device is not removed', async () => {
  const { made, calls, path } = hostWith('/dev/sda1', 'ext4', ['rw']);
  expect(await made.state('mount.unmounted', path, { device: '/dev/sdb1' })).toMatchObject({
    result: false,
    comment: `/dev/sda1 is mounted on ${path}, not /dev/sdb1: left as it is.`,
  });
  expect(calls).toEqual([]);
  expect(await made.state('mount.unmounted', path, { device: '/dev/sda1' })).toMatchObject({
    result: true,
    changes: { umount: true },
  });
});

test.skipIf(process.getuid?.() !== 0)(
  'a mount point that is made is of the user who mounts',
  async () => {
    host = makeHost({ salt: { 'mount.active': async () => ({}) } });
    const options = { mkmnt: true, persist: false, user: 'daemon' };
    const left = join(host.root, 'left/out');
    const mounted = join(host.root, 'mounted');
    const own = (path: string): number => statSync(path).uid;
    const kept = await host.state('mount.mounted', left, 'tmpfs', 'tmpfs', {
      ...options,
      mount: false,
    });
    expect(kept).toMatchObject({ result: true, changes: { mkmnt: true } });
    expect([own(left), own(join(host.root, 'left')), own(host.root)]).toEqual([1, 1, 0]);
    // No such device exists, for any user.
    const tried = await host.state('mount.mounted', mounted, '/dev/nothing', 'ext4', options);
    expect(tried).toMatchObject({ result: false });
    expect(own(mounted)).toBe(1);
  },
);
