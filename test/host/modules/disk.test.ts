import { execFileSync } from 'node:child_process';
import { mkdtempSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import * as devices from '../../../src/modules/disk/exec/disk/devices.ts';
import * as hardware from '../../../src/modules/disk/exec/disk/hardware.ts';
import * as disk from '../../../src/modules/disk/exec/disk/usage.ts';
import * as mount from '../../../src/modules/disk/exec/mount/active.ts';
import * as cache from '../../../src/modules/disk/exec/mount/cache.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';
import { contextOf, within } from '../../modules/_context.ts';
import { program } from '../../modules/_programs.ts';

const folder = mkdtempSync(join(tmpdir(), 'tsalt-disk-'));
const path = process.env.PATH;
const run = <T>(work: () => Promise<T>): Promise<T> => within(contextOf({}), work);
const say = (...argv: [string, ...string[]]): string =>
  execFileSync(argv[0], argv.slice(1), { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C' } });

beforeAll(() => {
  process.env.PATH = `${join(folder, 'bin')}:${path}`;
});
afterAll(() => {
  process.env.PATH = path;
  removeFolder(folder);
});

test('usage, inodes and percent are those of df', async () => {
  const [, line = ''] = say('df', '-kP', '/').split('\n');
  const [filesystem, blocks] = line.split(/\s+/);
  expect((await run(() => disk.usage()))['/']).toMatchObject({ filesystem, '1K-blocks': blocks });
  const [, inodes = ''] = say('df', '-iP', '/').split('\n');
  expect((await run(() => disk.inodeusage()))['/']?.inodes).toBe(inodes.split(/\s+/)[1]);
  expect(await run(() => disk.percent('/'))).toMatch(/^\d+%$/);
  expect(await run(() => disk.percent('/no/such'))).toEqual({});
  expect(Object.keys(await run(() => disk.usage('a')))).not.toEqual([]);
});

test('flags of df that want a word of their own, or are none, are refused', async () => {
  for (const flag of ['t', 'B', '/', ' '])
    await expect(run(() => disk.usage(flag))).rejects.toThrow('Invalid flag passed to disk.usage');
});

test.skipIf(!which('mkfs.ext4') || !which('blkid') || !which('resize2fs'))(
  'a file system is made, known, made larger and taken away (needs e2fsprogs and blkid)',
  async () => {
    const image = join(folder, 'image');
    writeFileSync(image, '');
    truncateSync(image, 8 << 20);
    expect(await run(() => devices.blkid(image))).toEqual({});
    expect(await run(() => devices.format(image, 'ext4', { force: true }))).toBe(true);
    expect((await run(() => devices.blkid(image)))[image]).toMatchObject({ TYPE: 'ext4' });
    truncateSync(image, 16 << 20);
    expect(await run(() => devices.resize2fs(image))).toBe(true);
    expect(say(which('dumpe2fs') ?? '', '-h', image)).toContain('Block count:              16384');
    expect(await run(() => devices.wipe(image))).toBe(true);
    expect(await run(() => devices.blkid(image))).toEqual({});
    expect(await run(() => devices.format(join(folder, 'none')))).toBe(false);
    expect(await run(() => devices.dump(image))).toBe(false);
  },
);

test('an impossible device is refused before anything runs', async () => {
  await expect(run(() => devices.wipe('--all'))).rejects.toThrow('Not a device: --all');
  await expect(run(() => devices.format('/dev/x', '../sh'))).rejects.toThrow('Not a type');
  await expect(run(() => devices.format('/dev/x', 'vfat', { fat: 64 }))).rejects.toThrow(
    'fat must be 12, 16 or 32',
  );
  await expect(run(() => devices.tune('/dev/x', { speed: 1 }))).rejects.toThrow('cannot set speed');
  await expect(run(() => devices.dump('/dev/x', ['flushbufs']))).rejects.toThrow(
    'cannot report flushbufs',
  );
});

test.skipIf(!which('findmnt'))('the place and device of a path are those of findmnt', async () => {
  for (const place of ['/', '/proc/self/status', folder]) {
    const [device, point, type] = say('findmnt', '-nfo', 'SOURCE,TARGET,FSTYPE', '-T', place)
      .trim()
      .split(/\s+/);
    expect(await run(() => mount.get_mount_from_path(place))).toBe(point);
    expect(await run(() => mount.get_device_from_path(place))).toBe(device);
    if (device?.startsWith('/dev/'))
      expect(await run(() => devices.get_fstype_from_path(place))).toBe(type);
  }
});

test('iostat: a mean of the looks, for processors and disks', async () => {
  const look = (idle: number, reads: number): string =>
    `avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           1.00    0.00    2.00    0.10    0.00   ${idle}

Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s  %util
sda              ${reads}     10.00     0.00   0.00    0.30    12.50    1.00     20.00   0.10
`;
  program(folder, 'iostat', `Linux 6.1.0\n\n${look(90, 1)}\n${look(97, 2)}`);
  expect(await run(() => hardware.iostat(1, 2))).toMatchObject({
    sys: { '%user': 1, '%idle': 93.5 },
    sda: { 'r/s': 1.5, '%util': 0.1 },
  });
});

test('smartctl: attributes by number, the raw value with its words', async () => {
  program(
    folder,
    'smartctl',
    `=== START OF READ SMART DATA SECTION ===
SMART Attributes Data Structure revision number: 16
Vendor Specific SMART Attributes with Thresholds:
ID# ATTRIBUTE_NAME          FLAG     VALUE WORST THRESH TYPE      UPDATED  WHEN_FAILED RAW_VALUE
  5 Reallocated_Sector_Ct   0x0033   100   100   010    Pre-fail  Always       -       0
190 Airflow_Temperature_Cel 0x0032   067   053   000    Old_age   Always       -       33 (Min/Max 20/45)

`,
  );
  const all = await run(() => hardware.smart_attributes('sda'));
  expect(all['5']).toEqual({
    attribute_name: 'Reallocated_Sector_Ct',
    flag: '0x0033',
    value: 100,
    worst: 100,
    thresh: 10,
    type: 'Pre-fail',
    updated: 'Always',
    when_failed: '-',
    raw_value: 0,
  });
  expect(all['190']?.raw_value).toBe('33 (Min/Max 20/45)');
  expect(await run(() => hardware.smart_attributes('sda', [5], ['raw_value']))).toEqual({
    5: { raw_value: 0 },
  });
});

test('hdparm: numbers with their meaning, lists and names', async () => {
  program(
    folder,
    'hdparm',
    `
/dev/sda:
 multcount     = 16 (on)
 readonly      =  0 (off)
 geometry      = 30401/255/63, sectors = 488397168, start = 0
 drive state is:  active/idle
 max sectors   = 488395055/488397168, HPA is enabled
`,
  );
  const facts = (await run(() => hardware.hdparms('sda')))['/dev/sda'];
  expect(facts).toMatchObject({
    multcount: [16, 'on'],
    readonly: [0, 'off'],
    drive_state: ['active', 'idle'],
  });
  program(folder, 'hdparm', '\n/dev/sda:\n max sectors   = 488395055/488397168, HPA is enabled\n');
  expect(await run(() => hardware.hpa('sda'))).toEqual({
    '/dev/sda': { total: 488397168, visible: 488395055, hidden: 2113 },
  });
  await expect(run(() => hardware.hpa('sda', '5%'))).rejects.toThrow('"size" of disk.hpa');
});

test('arguments that would make iostat run endlessly are refused', async () => {
  for (const [interval, count] of [
    ['x', 1],
    [1, 0],
    [0, 1],
    [1.5, 2],
  ] as [never, never][])
    await expect(run(() => hardware.iostat(interval, count))).rejects.toThrow(
      'interval and count must be whole numbers above 0',
    );
});

test('how a mount point is mounted can be noted and forgotten', async () => {
  const context = contextOf({}, { opts: { cachedir: folder } });
  const noted = { device: '/dev/sdz', fstype: 'ext4', mkmnt: true, opts: 'defaults,nosuid' };
  await within(context, async () => {
    expect(await cache.read_mount_cache('/mnt')).toEqual({});
    expect(await cache.write_mount_cache('/mnt', '/dev/sdz', true, 'ext4', 'defaults,nosuid')).toBe(
      true,
    );
    await cache.write_mount_cache('__proto__', 'x', false, 'y', ['z']);
    expect(await cache.read_mount_cache('/mnt')).toEqual(noted);
    expect(statSync(join(folder, 'mounts')).mode & 0o777).toBe(0o600);
    expect(await cache.delete_mount_cache('/mnt')).toBe(true);
    expect(await cache.read_mount_cache('/mnt')).toEqual({});
    expect(await cache.read_mount_cache('__proto__')).toMatchObject({ device: 'x' });
    writeFileSync(join(folder, 'mounts'), '{');
    await expect(cache.read_mount_cache('/mnt')).rejects.toThrow('mounts is damaged');
  });
});
