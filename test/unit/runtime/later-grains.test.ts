import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startsWithoutGrains } from '../../../src/runtime/lazy-start.ts';
import { LaterGrains } from '../../../src/runtime/session/later-grains.ts';

const notCollected = 'A grain was read before the grains were collected.';

test('reading a grain before they are collected throws, and returns the value afterwards', async () => {
  const later = new LaterGrains({ id: 'web1' }, async () => ({ id: 'web1', os: 'Debian' }));
  const { grains } = later;
  const ways = [
    () => grains.os,
    () => 'os' in grains,
    () => Object.keys(grains),
    () => ({ ...grains }),
    () => JSON.stringify(grains),
  ];
  for (const way of ways) expect(way).toThrow(notCollected);
  expect(later.known).toEqual({ id: 'web1' });

  await later.collect();

  expect(ways.map(way => way())).toEqual([
    'Debian',
    true,
    ['id', 'os'],
    { id: 'web1', os: 'Debian' },
    '{"id":"web1","os":"Debian"}',
  ]);
  expect(later.known).toEqual({ id: 'web1', os: 'Debian' });
});

test('grains are collected once, and nothing waits for them afterwards', async () => {
  let times = 0;
  const later = new LaterGrains({}, async () => ({ times: ++times }));

  await Promise.all([later.collect(), later.collect()]);

  expect(later.collect()).toBeUndefined();
  expect(later.grains).toEqual({ times: 1 });
});

test('a host with a grains file sends its grains before states run', () => {
  const dir = mkdtempSync(join(tmpdir(), 'tsalt-lazy-start-'));
  try {
    const file = join(dir, 'grains');
    expect(startsWithoutGrains('state-lazy', file)).toBe(true);
    writeFileSync(file, 'state_runs_disabled: ["file.*"]\n');
    expect(startsWithoutGrains('state-lazy', file)).toBe(false);
    expect(startsWithoutGrains('lazy', file)).toBe(true);
    expect(startsWithoutGrains('state', join(dir, 'none'))).toBe(false);
    expect(startsWithoutGrains(undefined, join(dir, 'none'))).toBe(false);
  } finally {
    rmSync(dir, { recursive: true });
  }
});
