import { expect, test } from 'vitest';
import { chunkData } from '../../../src/compiler/chunks.ts';
import { dumpJson } from '../../../src/data/formats/json-dump.ts';
import { toData } from '../../../src/data/values/value.ts';
import type { Plain } from '../../../src/protocol/plain.ts';
import { compileTree } from '../../formulas/compile-tree.ts';
import tree from '../../formulas/stateconf.json' with { type: 'json' };

/** Salt 3006's compiled form of each SLS; absent if it refuses the SLS. */
const low = Object.entries(tree.low as Readonly<Record<string, Plain[] | null>>);

test.each(low)('the stateconf SLS %s compiles to the chunks of Salt', async (sls, expected) => {
  const { chunks, errors } = await compileTree(sls, {
    files: tree.files,
    grains: new Map(),
    pillar: new Map(),
  });
  expect(errors.length > 0).toBe(expected === null);
  expect(dumpJson(chunks.map(chunkData))).toBe(dumpJson(toData(expected ?? [])));
});

test.each([
  ['bad', "stateconf: 'yaml' names no template engine"],
  ['badopt', 'stateconf has no option -x'],
  ['ordbad', '.a:test cannot require .b:test, which comes later'],
  ['taken', "the id '.goal' is stateconf's own"],
])('a stateconf SLS that cannot be says why: %s', async (sls, reason) => {
  const { errors } = await compileTree(sls, {
    files: tree.files,
    grains: new Map(),
    pillar: new Map(),
  });
  expect(errors[0]?.message).toContain(reason);
  expect(errors[0]?.at?.file).toMatch(new RegExp(`${sls}\\.sls$`));
});

test('stateconf runs no renderer that is disallowed', async () => {
  const files = {
    'a.sls': '#!stateconf json5 . jinja\n{}\n',
    'b.sls': '#!stateconf nope . jinja\n',
  };
  const given = { files, grains: new Map(), pillar: new Map() };
  expect((await compileTree('b', given)).errors[0]?.message).toContain("no renderer 'nope'");
  expect((await compileTree('a', given)).errors).toEqual([]);
});
