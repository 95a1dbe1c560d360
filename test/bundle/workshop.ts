import { mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildArtifact } from '../../src/bundle/artifact.ts';
import type { ModuleContext } from '../../src/modules/api.ts';
import type { Artifact } from '../../src/protocol/artifact.ts';
import type { ControlFunction } from '../../src/protocol/manifest.ts';
import type { FullRegistry } from '../../src/runtime/registry.ts';

export type Files = Readonly<Record<string, string | Uint8Array>>;

/** What the artifact's stand-in runtime hands out: the real registry inside the real bundle. */
export type Opened = {
  readonly registry: FullRegistry;
  readonly run: <T>(context: Partial<ModuleContext>, work: () => T) => T;
  readonly evaluated: readonly string[];
};

const runtime = fileURLToPath(new URL('./runtime-for-tests.ts', import.meta.url));

/** A folder with file roots of its own. */
export const workshop = (files: Files) => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'tsalt-bundle-')));
  const write = (more: Files): void => {
    for (const [name, content] of Object.entries(more)) {
      const path = join(dir, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
    }
  };
  write(files);
  const build = (controlFunctions: readonly ControlFunction[] = []): Promise<Artifact> =>
    buildArtifact({
      fileRoots: { base: [join(dir, 'salt')], dev: [join(dir, 'dev')] },
      cacheDir: join(dir, 'cache'),
      controlFunctions,
      runtime,
    });
  return { dir, write, build, open: async () => open(await build()) };
};

/** Evaluates an artifact as the loader on a host does. */
export const open = (artifact: Artifact): Opened => {
  const text = readFileSync(artifact.path, 'latin1');
  const TS = { sha: artifact.sha256, pre: Buffer.alloc(0), dir: '/nonexistent' };
  const evaluate = new Function('require', 'process', 'TS', text);
  evaluate(createRequire('/'), process, TS);
  return (TS as unknown as { opened: Opened }).opened;
};
