import { expect, test } from 'vitest';
import { parsePlist } from '../../../src/data/formats/plist-read.ts';

const nested = (levels: number): string =>
  `<plist version="1.0">${'<array>'.repeat(levels)}${'</array>'.repeat(levels)}</plist>`;

test('a property list nests as deep as YAML may, and no deeper', () => {
  expect(JSON.stringify(parsePlist(nested(500)))).toBe('['.repeat(500) + ']'.repeat(500));
  for (const levels of [501, 200_000])
    expect(() => parsePlist(nested(levels))).toThrow('it nests deeper than 500 levels');
});

test('lists beside each other do not count as nested', () => {
  const many = `<plist><array>${'<array></array>'.repeat(600)}</array></plist>`;
  expect(parsePlist(many)).toHaveLength(600);
});
