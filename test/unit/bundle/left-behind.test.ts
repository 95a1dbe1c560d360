import { expect, test } from 'vitest';
import { leftBehind } from '../../../scripts/left-behind.ts';

test('leftBehind: names what is new, and only what has our name counts against the tests', () => {
  const before = { links: ['lo'], files: ['/var/tmp/old', '/tmp/tsalt-before'], processes: [] };
  const now = {
    links: ['lo', 'tsalt22', 'docker0'],
    files: [
      '/var/tmp/old',
      '/tmp/tsalt-before',
      '/var/tmp/tsalt-ssh-0-0123456789abcdef',
      '/run/epmd',
    ],
    processes: ['7 node /tmp/tsalt-x'],
    users: ['tsalt-test:x:1001:'],
  };
  expect(leftBehind(before, now).map(({ line, isOurs }) => `${isOurs} ${line}`)).toEqual([
    'true left behind, links: tsalt22',
    'false left behind, links: docker0',
    'true left behind, files: /var/tmp/tsalt-ssh-0-0123456789abcdef',
    'false left behind, files: /run/epmd',
    'false left behind, processes: 7 node /tmp/tsalt-x',
    'true left behind, users: tsalt-test:x:1001:',
  ]);
});
