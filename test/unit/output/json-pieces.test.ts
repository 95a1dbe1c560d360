import { expect, test } from 'vitest';
import { jsonText } from '../../../src/output/format/json.ts';
import { writeJson } from '../../../src/output/json-pieces.ts';
import { textPieces } from '../../../src/protocol/text-pieces.ts';
import { seeded } from '../../helpers/random.ts';

const inPieces = (value: unknown, indent: number): string => {
  const pieces: string[] = [];
  writeJson(value, piece => pieces.push(piece), indent);
  return pieces.join('');
};

const randomValue = (random: () => number, depth = 0): unknown => {
  const pick = Math.floor(random() * (depth > 4 ? 6 : 9));
  const text = (): string =>
    Array.from({ length: Math.floor(random() * 12) }, () =>
      String.fromCodePoint(
        [0x22, 0x5c, 0x0a, 0x7f, 0x85, 0x2028, 0x202e, 0xd83d, 0x1f600, 0x61, 0][
          Math.floor(random() * 11)
        ] ?? 0x61,
      ),
    ).join('');
  const members = Array.from({ length: Math.floor(random() * 5) }, () =>
    pick < 6 ? null : randomValue(random, depth + 1),
  );
  if (pick === 0) return null;
  if (pick === 1) return random() < 0.5;
  if (pick === 2) return Math.floor(random() * 1e6) / (random() < 0.5 ? 1 : 7);
  if (pick === 3) return undefined;
  if (pick < 6) return text();
  return pick === 6 ? members : Object.fromEntries(members.map(member => [text(), member]));
};

test('writeJson: writes what JSON.stringify writes', () => {
  const random = seeded(7);
  for (let round = 0; round < 3000; round += 1) {
    const value = [randomValue(random)];
    for (const indent of [0, 1, 4]) expect(inPieces(value, indent)).toBe(jsonText(value, indent));
  }
});

test('writeJson: writes long strings in pieces that cut no character', () => {
  const value = { text: `${'a'.repeat(262_143)}${'😀"\n'.repeat(300_000)}`, after: [1] };
  const pieces: string[] = [];
  writeJson(value, piece => pieces.push(piece), 4);

  expect(pieces.join('') === jsonText(value, 4)).toBe(true);
  expect(Math.max(...pieces.map(piece => piece.length))).toBeLessThan(1_500_000);
  for (const piece of textPieces(value.text)) expect(/[\ud800-\udfff]/u.test(piece)).toBe(false);
});

test('writeJson: refuses what is nested too deep before it writes anything', () => {
  let deep: unknown = 1;
  for (let level = 0; level < 5000; level += 1) deep = [deep];
  const pieces: string[] = [];

  expect(() => writeJson(['a', deep], piece => pieces.push(piece))).toThrow('nested deeper');
  expect(pieces).toEqual([]);
});
