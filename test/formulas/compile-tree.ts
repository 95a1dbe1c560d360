import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { compile } from '../../src/compiler/compile.ts';
import { loadSls } from '../../src/compiler/load.ts';
import { slsLoader } from '../../src/control/facts/sls-loader.ts';
import { type Dict, toPlainDict } from '../../src/data/values/value.ts';
import { FileRoots } from '../../src/fileserver/file-roots.ts';
import { TaintTable } from '../../src/render/taint/taint-table.ts';
import type { WrapperContext } from '../../src/wrapper/context.ts';
import { callWrapper } from '../../src/wrapper/define.ts';
import { dataOf } from '../../src/wrapper/outcome.ts';
import { findWrapper } from '../../src/wrapper/table.ts';

type Tree = {
  readonly files: Readonly<Record<string, string>>;
  readonly grains: Dict;
  readonly pillar: Dict;
};

/** Compiles the SLS of a tree, for a host with some grains and pillar. */
export const compileTree = async (sls: string, { files, grains, pillar }: Tree) => {
  const root = mkdtempSync(join(tmpdir(), 'tsalt-formula-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const roots = new FileRoots({ base: [root] });
  const taint = new TaintTable('web1');
  taint.hear(toPlainDict(grains), 'grain');
  const context = {
    grains,
    opts: new Map(),
    config: { pillar_merge_lists: false },
    pillar: async () => pillar,
  } as unknown as WrapperContext;
  const loader = slsLoader(
    roots,
    () => ({
      grains,
      pillar,
      opts: new Map(),
      files: roots,
      taint,
      call: async (fun, args, kwargs) => {
        const found = findWrapper(fun);
        if (!found) throw new Error(`${fun} is not there`);
        return dataOf(await callWrapper(fun, found, context, args, kwargs));
      },
    }),
    { pipe: 'jinja|yaml' },
  );
  const loaded = await loadSls({ matches: new Map([['base', [sls]]]), loader });
  return compile(loaded, {});
};
