import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { StateReturn } from '../../../src/modules/api.ts';
import * as facts from '../../../src/modules/disk/exec/linux_lvm/facts.ts';
import * as groupCalls from '../../../src/modules/disk/exec/linux_lvm/groups.ts';
import * as logicalCalls from '../../../src/modules/disk/exec/linux_lvm/logical.ts';
import * as physicalCalls from '../../../src/modules/disk/exec/linux_lvm/physical.ts';
import { lvmOptions, megabytes, parseDisplay } from '../../../src/modules/disk/lvm.ts';
import * as groups from '../../../src/modules/disk/states/lvm/groups.ts';
import * as logical from '../../../src/modules/disk/states/lvm/logical.ts';
import * as physical from '../../../src/modules/disk/states/lvm/physical.ts';
import { nothing } from '../../helpers/nothing.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';
import { contextOf, testing, within } from '../../modules/_context.ts';

const lvm = { ...facts, ...groupCalls, ...logicalCalls, ...physicalCalls };
const canRun =
  process.getuid?.() === 0 &&
  spawnSync('lvm', ['version']).status === 0 &&
  spawnSync('losetup', ['-f']).status === 0;

test('sizes are read with and without units', () => {
  expect(['512', '10G', '1.5t', '2048S', 3, '4MB'].map(megabytes)).toEqual([
    512, 10240, 1572864, 1, 3, 4,
  ]);
  expect(() => megabytes('much')).toThrow('Size much is invalid.');
});

test('options are those of the command; others are refused by name', () => {
  expect(lvmOptions({ zero: 'y', nosync: true, type: null }, ['zero', 'type'], ['nosync'])).toEqual(
    ['--zero', 'y', '--nosync'],
  );
  expect(() => lvmOptions({ sise: 1 }, ['size'])).toThrow('LVM has no option sise here');
});

test('a device that is not a volume yet is reported as not a volume', () => {
  expect(
    parseDisplay('  "/dev/sdb" is a new physical volume of "1.00 GiB"\n  a:b\n', ['Name', 'Group']),
  ).toEqual({ a: { Name: 'a', Group: 'b' } });
});

describe.skipIf(!canRun)('the real LVM on loop devices', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tsalt-lvm-'));
  const path = process.env.PATH;
  const group = `tsalt${process.pid}`;
  const devices: string[] = [];

  beforeAll(() => {
    for (const name of ['a', 'b']) {
      writeFileSync(join(folder, name), '');
      truncateSync(join(folder, name), 64 * 1024 * 1024);
      const { status, stdout } = spawnSync('losetup', ['-f', '--show', join(folder, name)]);
      expect(status).toBe(0);
      devices.push(stdout.toString().trim());
    }
    // A configuration of its own: LVM sees no other device and writes nothing into /etc/lvm.
    const own = `[ ${devices.map(device => `"a|^${device}$|"`).join(', ')}, "r|.*|" ]`;
    writeFileSync(
      join(folder, 'lvm.conf'),
      `devices { use_devicesfile = 0 filter = ${own} global_filter = ${own} }\nbackup { backup = 0 archive = 0 }\n`,
    );
    process.env.LVM_SYSTEM_DIR = folder;
    // Volumes are real, but not activated: that needs a kernel with the device mapper.
    const program = (name: string, options: string): void => {
      writeFileSync(
        join(folder, name),
        `#!/bin/sh\nexec /sbin/${name} --driverloaded n ${options} "$@"\n`,
      );
      chmodSync(join(folder, name), 0o755);
    };
    for (const name of ['lvdisplay', 'lvresize', 'lvremove', 'vgremove']) program(name, '');
    program('lvcreate', '-an -Zn -Wn');
    // Nor may udev activate them, which would keep the group from being removed.
    program('vgcreate', '--setautoactivation n');
    process.env.PATH = `${folder}:${path}`;
  });

  afterAll(() => {
    process.env.PATH = path;
    spawnSync(join(folder, 'vgremove'), ['--yes', group]);
    delete process.env.LVM_SYSTEM_DIR;
    for (const device of devices) spawnSync('losetup', ['-d', device]);
    removeFolder(folder);
  });

  const namesIn = (path: string): string[] => (existsSync(path) ? readdirSync(path) : []);
  const context = contextOf({ lvm });
  const run = <T>(work: () => Promise<T>): Promise<T> => within(context, work);
  const report = (): string =>
    spawnSync('sh', [
      '-c',
      `pvs --noheadings ${devices.join(' ')}; vgs; ${folder}/lvdisplay -c`,
    ]).stdout.toString();

  const settles = async (work: () => Promise<StateReturn>): Promise<StateReturn> => {
    const before = report();
    const told = await within(testing(context), work);
    expect(told.changes).toEqual({});
    expect(told, String(told.comment)).toMatchObject({ result: null });
    expect(report()).toBe(before);
    const done = await run(work);
    expect(done, String(done.comment)).toMatchObject({ result: true });
    expect(Object.keys(done.changes)).toHaveLength(1);
    const again = await run(work);
    expect(again, String(again.comment)).toMatchObject({ result: true });
    expect(again.changes).toEqual({});
    return done;
  };

  test('physical volumes, groups and logical volumes come, grow and go', {
    tags: 'slow',
    timeout: 240_000,
  }, async () => {
    const [a = '', b = ''] = devices;
    expect((await settles(() => physical.pv_present(a))).changes).toEqual({ created: true });
    await settles(() => groups.vg_present(group, { devices: a, physicalextentsize: '4M' }));
    const both = () => groups.vg_present(group, { devices: [a, b] });
    expect(await within(testing(context), both)).toMatchObject({ result: null, changes: nothing });
    await settles(() => physical.pv_present(b, { metadatasize: '1M' }));
    expect((await settles(both)).changes).toEqual({
      [b]: `added to ${group}`,
    });
    expect(await run(() => facts.vgdisplay(group))).toMatchObject({
      [group]: { 'Actual Physical Volumes': '2', 'Physical Extent Size (kB)': '4096' },
    });

    const size = (): string =>
      spawnSync('lvs', ['--noheadings', '--units', 'm', '-o', 'lv_size', `${group}/www`])
        .stdout.toString()
        .trim();
    const volume = (options: object) => () =>
      logical.lv_present('www', { vgname: group, ...options });
    const made = await settles(volume({ size: '9M' }));
    expect(made.changes).toHaveProperty('created');
    expect(size()).toBe('12.00m');
    await settles(volume({ size: '0.02G' }));
    expect(size()).toBe('24.00m');
    expect(await run(volume({ size: 8 }))).toMatchObject({
      result: false,
      comment: "To reduce a Logical Volume option 'force' must be True.",
    });
    await settles(volume({ size: 8, force: true }));
    expect(size()).toBe('8.00m');
    await settles(volume({ extents: 4 }));
    expect(size()).toBe('16.00m');
    expect(await run(volume({ extents: '50%FREE' }))).toMatchObject({
      result: true,
      changes: nothing,
      comment: "Logical Volume www already present, 50%FREE won't be resized.",
    });
    await settles(() => logical.lv_present('rest', { vgname: group, extents: '100%FREE', pv: b }));

    await settles(() => logical.lv_absent('www', { vgname: group }));
    await settles(() => groups.vg_absent(group));
    for (const device of devices) await settles(() => physical.pv_absent(device));
    expect(await run(() => facts.pvdisplay(a, { quiet: true }))).toEqual({});
    const written = ['archive', 'backup'].flatMap(kind => namesIn(join('/etc/lvm', kind)));
    expect(written.filter(name => name.startsWith(group))).toEqual([]);
  });

  test('an error of LVM fails the state with its message', async () => {
    expect(await run(() => groups.vg_present('none', { devices: '/dev/null' }))).toMatchObject({
      result: false,
      changes: nothing,
    });
    expect(await run(() => physical.pv_present('/dev/nowhere'))).toMatchObject({
      result: false,
      comment: '/dev/nowhere does not exist',
    });
    const state = await run(() => logical.lv_present('x', { vgname: 'nogroup', size: '1G' }));
    expect(state.comment).toMatch(
      /^Failed to create Logical Volume x\. Error: .*"nogroup" not found/s,
    );
    expect(await run(() => facts.version())).toMatch(/^\d+\./);
  });
});
