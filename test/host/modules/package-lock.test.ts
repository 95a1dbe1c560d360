import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { runPackager } from '../../../src/modules/pkg/packages.ts';
import { contextOf, within } from '../../modules/_context.ts';

const hasApt = ['/usr/bin/apt-get', '/bin/apt-get'].some(path => existsSync(path));
const locked = /Could not get lock|Unable to acquire the dpkg frontend lock/;

test.skipIf(!hasApt)(
  'a package manager that may not open its lock is not run again (needs apt-get)',
  {
    timeout: 10_000,
  },
  async () => {
    const isRoot = process.getuid?.() === 0;
    const install = ['apt-get', 'install', '-y', 'hello'] as const;
    const started = performance.now();
    const { code, stderr } = await within(contextOf({}), () =>
      runPackager(isRoot ? ['setpriv', '--reuid=65534', '--clear-groups', ...install] : install, {
        locked,
      }),
    );
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/permission denied/i);
    expect(stderr).toMatch(locked);
    expect(performance.now() - started).toBeLessThan(5000);
  },
);
