import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { compile } from '../../src/compiler/compile.ts';
import { loadSls } from '../../src/compiler/load.ts';
import { slsLoader } from '../../src/control/sls-loader.ts';
import { dumpJson } from '../../src/data/json-dump.ts';
import { markOrdered } from '../../src/data/ordered.ts';
import { type Dict, toData, toDict } from '../../src/data/value.ts';
import { FileRoots } from '../../src/fileserver/file-roots.ts';
import type { Plain } from '../../src/protocol/plain.ts';
import type { WrapperContext } from '../../src/wrapper/context.ts';
import { callWrapper } from '../../src/wrapper/define.ts';
import { findWrapper } from '../../src/wrapper/table.ts';
import { loadYaml } from '../../src/yaml/load.ts';
import tree from './tree.json' with { type: 'json' };

test.each(['Debian', 'RedHat'] as const)(
  'a formula with a map, OS files and pillar compiles to the chunks of Salt on %s',
  async family => {
    const root = mkdtempSync(join(tmpdir(), 'tsalt-formula-'));
    onTestFinished(() => rmSync(root, { recursive: true }));
    for (const [path, text] of Object.entries(tree.files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    const pillar = markOrdered(loadYaml(tree.pillar, { ordered: true }) as Dict);
    const grains = toDict({ id: 'm', os: family, os_family: family });
    const files = new FileRoots({ base: [root] });
    const context = {
      grains,
      opts: new Map(),
      config: { pillar_merge_lists: false },
      pillar: async () => pillar,
    } as unknown as WrapperContext;
    const loader = slsLoader(
      files,
      () => ({
        grains,
        pillar,
        opts: new Map(),
        files,
        call: async (fun, args, kwargs) => {
          const found = findWrapper(fun);
          if (!found) throw new Error(`${fun} is not there`);
          return callWrapper(fun, found, context, args, kwargs);
        },
      }),
      { pipe: 'jinja|yaml' },
    );
    const loaded = await loadSls({ matches: new Map([['base', ['shop']]]), loader });
    const { chunks, errors } = compile(loaded, {});
    expect(errors).toEqual([]);
    expect(dumpJson([...chunks])).toBe(dumpJson(toData(tree.low[family].low as Plain)));
  },
);
