import { afterEach, expect, test } from 'vitest';
import { nothing } from '../../helpers/nothing.ts';
import { makeHost, type TestHost } from '../../states/runner.ts';

let host: TestHost | undefined;
afterEach(() => host?.remove());

/** No module of a real kernel is touched: a lab host has that of this machine. */
const hostWith = (loaded: string[], atBoot: string[] = []) => {
  const calls: unknown[][] = [];
  const made = makeHost({
    salt: {
      'kmod.mod_list': async only => (only ? atBoot : loaded),
      'kmod.remove': async (mod, ...more) => {
        calls.push(['remove', mod, ...more]);
        if (mod === 'busy') throw new Error('Module busy is in use.');
        for (const list of [loaded, atBoot])
          if (list.includes(String(mod))) list.splice(list.indexOf(String(mod)), 1);
        return [mod];
      },
      'kmod.load': async (mod, ...more) => {
        calls.push(['load', mod, ...more]);
        loaded.push(String(mod));
        return [mod];
      },
    },
  });
  host = made;
  return { made, calls };
};

test('kmod.absent takes a module away, and says so before', async () => {
  const { made, calls } = hostWith(['pcspkr', 'ext4'], ['pcspkr']);
  const options = { persist: true };
  expect(await made.test('kmod.absent', 'pcspkr', options)).toMatchObject({
    result: null,
    comment: 'Kernel module pcspkr is set to be removed',
  });
  expect(calls).toEqual([]);
  expect(await made.state('kmod.absent', 'pcspkr', options)).toMatchObject({
    result: true,
    changes: { pcspkr: 'removed' },
    comment: 'Removed kernel module pcspkr',
  });
  expect(calls).toEqual([['remove', 'pcspkr', true, true]]);
  expect(await made.state('kmod.absent', 'pcspkr', options)).toMatchObject({
    result: true,
    changes: nothing,
    comment: 'Kernel module pcspkr is already removed',
  });
});

test('of several modules the one in use is named, the others go', async () => {
  const { made } = hostWith(['busy', 'gone']);
  expect(await made.state('kmod.absent', 'x', { mods: ['busy', 'gone', 'never'] })).toMatchObject({
    result: false,
    changes: { gone: 'removed' },
    comment:
      'Failed to remove kernel module busy: Module busy is in use.\nRemoved kernel module gone',
  });
});

test('kmod.present loads what is missing', async () => {
  const { made, calls } = hostWith(['ext4']);
  expect(await made.state('kmod.present', 'x', { mods: ['ext4', 'nfs'] })).toMatchObject({
    result: true,
    changes: { nfs: 'loaded' },
  });
  expect(calls).toEqual([['load', 'nfs', false]]);
});
