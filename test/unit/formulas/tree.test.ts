import { expect, test } from 'vitest';
import { chunkData } from '../../../src/compiler/chunks.ts';
import { dumpJson } from '../../../src/data/formats/json-dump.ts';
import { markOrdered } from '../../../src/data/values/ordered.ts';
import { type Dict, toData, toDict } from '../../../src/data/values/value.ts';
import type { Plain } from '../../../src/protocol/plain.ts';
import { loadYaml } from '../../../src/yaml/load.ts';
import { compileTree } from '../../formulas/compile-tree.ts';
import tree from '../../formulas/tree.json' with { type: 'json' };

test.each(['Debian', 'RedHat'] as const)(
  'a formula with a map, OS files and pillar compiles to the chunks of Salt on %s',
  async family => {
    const { chunks, errors } = await compileTree('shop', {
      files: tree.files,
      grains: toDict({ id: 'm', os: family, os_family: family }),
      pillar: markOrdered(loadYaml(tree.pillar, { ordered: true }) as Dict),
    });
    expect(errors).toEqual([]);
    expect(dumpJson(chunks.map(chunkData))).toBe(dumpJson(toData(tree.low[family].low as Plain)));
  },
);
