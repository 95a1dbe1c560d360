import { expect, test } from 'vitest';
import { runPackager } from '../../src/modules/pkg/packages.ts';

const locked = /Could not get lock|Unable to acquire the dpkg frontend lock/;

test('a package manager that may not open its lock is not run again', {
  timeout: 10_000,
}, async () => {
  const asNobody = ['setpriv', '--reuid=65534', '--clear-groups'] as const;
  const started = performance.now();
  const { code, stderr } = await runPackager([...asNobody, 'apt-get', 'install', '-y', 'hello'], {
    locked,
  });
  expect(code).not.toBe(0);
  expect(stderr).toMatch(/permission denied/i);
  expect(stderr).toMatch(locked);
  expect(performance.now() - started).toBeLessThan(5000);
});
