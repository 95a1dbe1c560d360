import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../../helpers/cli.ts';

/** MiB of the young generation after much garbage of which some survives. */
const youngAfterGarbage = (hosts: number): number => {
  const program = `
    import { getHeapSpaceStatistics } from 'node:v8';
    import { boundGarbage } from './src/control/fleet/bound-garbage.ts';
    boundGarbage(${hosts});
    const kept = [];
    for (let at = 0; at < 2_000_000; at += 1) kept[at % 50_000] = { at, text: String(at) };
    const young = getHeapSpaceStatistics().find(space => space.space_name === 'new_space');
    console.log(young.space_size / 1024 / 1024);
  `;
  const argv = ['--import', 'tsx', '--input-type=module', '--eval', program];
  return Number(execFileSync(process.execPath, argv, { cwd: join(packageRoot), encoding: 'utf8' }));
};

test('the young generation stays small for many hosts, and is left alone for few', {
  tags: 'slow',
}, () => {
  const few = youngAfterGarbage(1);

  expect(few).toBeGreaterThan(16);
  expect(youngAfterGarbage(200)).toBeLessThan(few / 2);
});
