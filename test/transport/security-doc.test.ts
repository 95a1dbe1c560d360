import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const promises = readFileSync('docs/security.md', 'utf8')
  .split('\n')
  .filter(line => line.startsWith('- ') && line.includes('`test/'));

test('each promise names its test', () => {
  expect(promises.length).toBeGreaterThan(30);
});

test.each(promises)('%s', line => {
  const [, file = '', names = ''] = /`(test\/[^`]+)` ("[^"]+"(?:, "[^"]+")*)$/.exec(line) ?? [];
  const titles = names.match(/[^"]+(?="(?:, "|$))/g) ?? [];
  expect(titles).not.toEqual([]);
  const source = readFileSync(file, 'utf8');
  for (const title of titles)
    expect(source.includes(title), `${file} has no test "${title}"`).toBe(true);
});
