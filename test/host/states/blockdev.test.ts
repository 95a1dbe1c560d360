import { truncateSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import { nothing } from '../../helpers/nothing.ts';
import { makeHost, type TestHost } from '../../states/runner.ts';

let host: TestHost | undefined;
afterEach(() => host?.remove());

const lacks = ['mkfs.ext4', 'mkfs.ext2', 'blkid'].filter(name => !which(name));

test.skipIf(lacks.length > 0)(
  `blockdev.formatted makes a file system once (needs ${lacks.join(', ') || 'nothing'})`,
  async () => {
    host = makeHost();
    const device = host.write('disk', '');
    truncateSync(device, 8 * 1024 * 1024);
    const options = { force: true };
    expect(await host.test('blockdev.formatted', device, options)).toMatchObject({
      result: null,
      changes: { old: '', new: 'ext4' },
    });
    expect(await host.call('disk.blkid', device)).toEqual({});
    const run = (more: object = {}) =>
      host?.state('blockdev.formatted', device, { ...options, ...more });
    expect(await run()).toMatchObject({
      result: true,
      changes: { old: '', new: 'ext4' },
      comment: `${device} has been formatted with ext4`,
    });
    expect(await run()).toMatchObject({ result: true, changes: nothing });
    expect(await run({ fs_type: 'ext2' })).toMatchObject({ changes: { old: 'ext4', new: 'ext2' } });
    expect(await run({ fs_type: 'nosuchfs' })).toMatchObject({
      result: false,
      comment: 'Invalid fs_type: nosuchfs',
    });
  },
);

test('a device that is not there is not formatted', async () => {
  host = makeHost();
  expect(await host.state('blockdev.formatted', '/dev/no-such-device')).toMatchObject({
    result: false,
    comment: '/dev/no-such-device does not exist',
  });
});

test('blockdev.tuned sets what differs', async () => {
  const facts: Record<string, string> = { getra: '256', getfra: '256', getro: '0' };
  const calls: unknown[][] = [];
  host = makeHost({
    salt: {
      'disk.dump': async device => (device === '/dev/sdz' ? { ...facts } : false),
      'disk.tune': async (device, settings) => {
        calls.push([device, settings]);
        facts.getra = '1024';
        return { getra: '1024' };
      },
    },
  });
  const wish = { 'read-ahead': 1024, 'read-write': true };
  const changes = { 'read-ahead': 'Changed from 256 to 1024' };
  expect(await host.test('blockdev.tuned', '/dev/sdz', wish)).toMatchObject({
    result: null,
    changes,
  });
  expect(calls).toEqual([]);
  expect(await host.state('blockdev.tuned', '/dev/sdz', wish)).toMatchObject({
    result: true,
    changes,
  });
  expect(calls).toEqual([['/dev/sdz', { 'read-ahead': 1024 }]]);
  expect(await host.state('blockdev.tuned', '/dev/sdz', wish)).toMatchObject({ changes: nothing });
  expect(await host.state('blockdev.tuned', '/dev/sdz', { speed: 3 })).toMatchObject({
    result: false,
    comment: expect.stringContaining("'speed' cannot be set"),
  });
  expect(await host.state('blockdev.tuned', '/tmp', wish)).toMatchObject({ result: false });
});

test('saltutil.sync_all has nothing to send', async () => {
  host = makeHost();
  for (const run of [host.test, host.state])
    expect(await run('saltutil.sync_modules', 'sync', { refresh: true })).toMatchObject({
      result: true,
      changes: nothing,
      comment: 'No updates to sync',
    });
});
