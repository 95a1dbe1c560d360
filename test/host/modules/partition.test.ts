import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import * as change from '../../../src/modules/disk/exec/parted_partition/change.ts';
import * as table from '../../../src/modules/disk/exec/parted_partition/table.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';
import { contextOf, within } from '../../modules/_context.ts';

const run = <T>(work: () => Promise<T>): Promise<T> => within(contextOf({}), async () => work());
const canRun =
  process.getuid?.() === 0 &&
  Boolean(which('parted') && which('partprobe') && which('sfdisk')) &&
  spawnSync('losetup', ['-f']).status === 0;

test('a path that is not a block device is refused before anything runs', async () => {
  for (const device of ['/dev/null', '/', 'sda', '--version', '/dev/no-such'])
    await expect(run(() => table.list_(device))).rejects.toThrow(`${device} is not a block device`);
  expect(await run(() => table.exists('/dev/null'))).toBe(false);
  expect(await run(() => table.exists())).toBe(false);
});

test('functions that parted no longer has are reported', async () => {
  await expect(run(() => change.check('/dev/sda', 1))).rejects.toThrow('partition.check is not');
  await expect(run(() => change.cp('/dev/sda', 1, 2))).rejects.toThrow('partition.cp is not');
});

describe.skipIf(!canRun)(
  `the real parted on a loop device${canRun ? '' : ' (needs root, parted, sfdisk and loop devices)'}`,
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'tsalt-parted-'));
    const image = join(folder, 'disk');
    let disk = '';

    beforeAll(() => {
      writeFileSync(image, '');
      truncateSync(image, 64 << 20);
      disk = execFileSync('losetup', ['-f', '--show', image], { encoding: 'utf8' }).trim();
    });
    afterAll(() => {
      spawnSync('losetup', ['-d', disk]);
      removeFolder(folder);
    });

    test('a table is made, filled, listed, flagged, named and emptied', async () => {
      await expect(run(() => table.list_(disk))).rejects.toThrow('unrecognised disk label');
      expect(await run(() => change.mklabel(disk, 'gpt'))).toEqual([]);
      expect(await run(() => change.mkpart(disk, 'primary', 'ext4', '1MiB', '33MiB'))).toEqual([]);
      expect(await run(() => change.mkpart(disk, 'primary', null, '-31MiB', '100%'))).toEqual([]);
      expect(await run(() => change.name(disk, 1, 'My Documents'))).toEqual([]);
      expect(await run(() => change.set_(disk, 1, 'lvm', true))).toEqual([]);
      const { info, partitions } = await run(() => table.list_(disk, 's'));
      expect(info).toMatchObject({ disk, size: '131072s', 'partition table': 'gpt' });
      expect(partitions['1']).toEqual({
        number: '1',
        start: '2048s',
        end: '67583s',
        size: '65536s',
        'file system': '',
        name: 'My Documents',
        flags: 'lvm',
      });
      expect(Object.keys(partitions)).toEqual(['1', '2']);
      expect(await run(() => table.align_check(disk, 'optimal', 1))).toEqual(['1 aligned']);
      await run(() => change.toggle(disk, 1, 'lvm'));
      await run(() => change.disk_set(disk, 'pmbr_boot', 'on'));
      await run(() => change.rm(disk, 2));
      await run(() => change.resize(disk, 1, 1, '41MiB'));
      const after = await run(() => table.list_(disk, 'MiB'));
      expect(after.info['disk flags']).toBe('pmbr_boot');
      expect(after.partitions).toMatchObject({ 1: { end: '41.0MiB', flags: '' } });
      expect(Object.keys(after.partitions)).toEqual(['1']);
      expect(await run(() => table.probe(disk))).toEqual([]);
      expect(await run(() => table.exists(disk))).toBe(true);
    });

    test('names with colons are read, which parted writes with backslashes', async () => {
      await run(() => change.mklabel(disk, 'gpt'));
      await run(() => change.mkpart(disk, 'primary', null, '1MiB', '9MiB'));
      execFileSync('parted', ['-s', '--', disk, 'name', '1', "'EFI: a\\\\b\\\\'"]);
      const { partitions } = await run(() => table.list_(disk));
      expect(partitions['1']).toMatchObject({ name: 'EFI: a\\b\\', flags: '' });
    });

    test('a DOS table has types', async () => {
      await run(() => change.mklabel(disk, 'msdos'));
      await run(() => change.mkpart(disk, 'primary', 'linux-swap', '1MiB', '100%'));
      expect(await run(() => table.get_id(disk, 1))).toEqual(['82']);
      await run(() => change.set_id(disk, 1, '8e'));
      expect(await run(() => table.get_id(disk, 1))).toEqual(['8e']);
      await expect(run(() => change.set_id(disk, 1, 'zz'))).rejects.toThrow('no type zz');
      expect(await run(() => table.system_types())).toMatchObject({ 83: 'Linux' });
      const chs = await run(() => table.list_(disk, 'chs'));
      expect(chs.partitions['1']).not.toHaveProperty('size');
      expect((await run(() => table.list_(disk, 'cyl'))).partitions['1']).toHaveProperty('size');
    });

    test('arguments that make no sense are refused', async () => {
      const wrong: [() => Promise<unknown>, string][] = [
        [() => table.list_(disk, 'XB'), 'XB is no unit of parted'],
        [() => change.mklabel(disk, 'dos'), 'dos is no partition table'],
        [() => change.mkpart(disk, 'other'), 'other is no type of partition'],
        [() => change.mkpart(disk, 'primary', 'zfs'), 'zfs is no file system'],
        [() => change.mkpart(disk, 'primary', null, 'x', 'y'), 'Invalid partition boundary'],
        [() => change.rm(disk, '1; true'), 'is not a partition number'],
        [() => change.set_(disk, 1, 'nice', 'on'), 'nice is no flag'],
        [() => change.set_(disk, 1, 'boot', 'maybe'), 'maybe is no state'],
        [() => change.name(disk, 1, "a'b"), 'cannot be the name'],
        [() => table.align_check(disk, 'best', 1), 'best is no alignment'],
        [() => change.disk_toggle(disk, 'boot'), 'boot is no flag of a disk'],
      ];
      for (const [work, why] of wrong) await expect(run(work)).rejects.toThrow(why);
    });
  },
);
