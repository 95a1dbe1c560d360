import { spawn } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { canRunApart, runApart } from '../../helpers/apart.ts';
import { nothing } from '../../helpers/nothing.ts';
import { makeHost, type TestHost } from '../../states/runner.ts';

let host: TestHost;
beforeEach(() => {
  host = makeHost();
});
afterEach(() => host.remove());

describe('disk.status', () => {
  const full = { '/': { '1K-blocks': '1000', used: '250', available: '700', capacity: '26%' } };

  test.each([
    [{ maximum: '26%' }, true, 'Disk used space in acceptable range'],
    [{ maximum: 25 }, false, 'Disk used space is above maximum of 25 % at 26 %'],
    [{ minimum: 30 }, false, 'Disk used space is below minimum of 30 % at 26 %'],
    [{ minimum: 75, free: true }, false, 'Disk available space is below minimum of 75 % at 74 %'],
    [
      { maximum: '200 KB', absolute: true },
      false,
      'Disk used space is above maximum of 200 KB at 250 KB',
    ],
    [{ minimum: 700, absolute: true, free: true }, true, 'Disk used space in acceptable range'],
    [{ maximum: 101 }, false, 'maximum must be in the range [0, 100] '],
    [{ minimum: 'much' }, false, 'minimum must be an integer '],
    [{ minimum: 50, maximum: 50 }, false, 'minimum must be less than maximum '],
  ])('%o', async (limits, result, comment) => {
    const there = makeHost({ salt: { 'disk.usage': async () => full } });
    const told = await there.state('disk.status', '/', limits);
    expect(told).toMatchObject({ result, comment, changes: nothing });
    there.remove();
  });

  test('a folder counts for the file system it is on', async () => {
    expect(await host.state('disk.status', host.root, { maximum: 100 })).toMatchObject({
      result: true,
      data: { [host.root]: { total: expect.any(Number) } },
    });
    expect(await host.state('disk.status', '/no/where')).toMatchObject({
      result: false,
      comment: expect.stringContaining('/no/where does not exist'),
    });
  });
});

test('the load is within limits, or not', async () => {
  const load = (name: string, limits: object) => host.state('status.loadavg', name, limits);
  expect(await load('1-min', { maximum: '100000' })).toMatchObject({ result: true });
  expect(await load('1-min', { minimum: 100_000 })).toMatchObject({
    result: false,
    comment: expect.stringContaining('Load avg is below minimum of 100000 at '),
  });
  expect(await load('2-min', {})).toMatchObject({ result: false });
});

test('processes are found by their command line, and ended', async () => {
  const mark = `tsalt-marked-${process.pid}`;
  const child = spawn('sh', ['-c', 'while :; do sleep 1; done', mark], { stdio: 'ignore' });
  const ended = new Promise(done => child.once('exit', (_, signal) => done(signal)));
  expect(await host.state('status.process', mark)).toMatchObject({
    result: true,
    data: expect.stringContaining(String(child.pid)),
  });
  expect(await host.test('process.absent', mark)).toMatchObject({
    result: null,
    comment: '1 processes will be killed',
  });
  expect(await host.state('process.absent', mark, { signal: 'WINGS' })).toMatchObject({
    result: false,
    comment: 'There is no signal WINGS.',
  });
  expect(await host.state('process.absent', mark, { signal: 'KILL' })).toMatchObject({
    result: true,
    changes: { killed: [child.pid] },
  });
  expect(await ended).toBe('SIGKILL');
  for (const run of [host.test, host.state])
    expect(await run('process.absent', mark)).toMatchObject({
      result: true,
      changes: nothing,
      comment: 'No matching processes running',
    });
  expect(await host.state('status.process', mark)).toMatchObject({ result: false });
});

test.skipIf(!canRunApart())('an attribute of the kernel has a value', async () => {
  const told = await runApart(
    { sysfs: 'src/modules/kernel/exec/sysfs.ts', state: 'src/modules/kernel/states/sysfs.ts' },
    `import { execFileSync } from 'node:child_process';
    execFileSync('mount', ['-t', 'sysfs', 'sysfs', '/sys']);
    await thrice('mtu', () => state.present('class/net/lo/mtu', '9000'));
    await step('read', () => sysfs.read('class/net/lo/mtu'));
    await step('refused', () => state.present('class/net/lo/mtu', -5));
    await step('folder', () => state.present('class/net/lo/statistics', 1));
    await step('none', () => state.present('class/net/none', 1));`,
    [],
    100,
    ['--net'],
  );
  expect(told).toMatchObject({
    'mtu told': { result: null, comment: 'SysFS attribute class/net/lo/mtu set to be changed.' },
    mtu: { result: true, changes: { 'class/net/lo/mtu': '9000' } },
    'mtu again': { result: true, comment: 'SysFS attribute class/net/lo/mtu is already set.' },
    read: 9000,
    refused: { result: false, comment: 'Failed to set class/net/lo/mtu to -5' },
    folder: { result: false, comment: 'class/net/lo/statistics is not a SysFS attribute.' },
    none: { result: false, comment: "SysFS attribute class/net/none doesn't exist." },
  });
});
