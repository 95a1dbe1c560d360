import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from '@babel/parser';
import { vi } from 'vitest';
import {
  type ArtifactOptions,
  buildArtifact,
  cached,
  findModules,
} from '../../src/bundle/artifact.ts';
import { describeModule } from '../../src/bundle/describe.ts';
import { discoverUser } from '../../src/bundle/discover.ts';
import { createSources } from '../../src/bundle/source.ts';
import { sourceRoot } from '../../src/bundle/source-root.ts';
import { openZip } from '../../src/bundle/zip.ts';
import type { ModuleContext } from '../../src/modules/api.ts';
import type { Artifact } from '../../src/protocol/artifact.ts';
import type { ControlFunction } from '../../src/protocol/manifest.ts';
import type { ModuleMeta } from '../../src/protocol/meta.ts';
import type { FullRegistry } from '../../src/runtime/registry.ts';

// A build takes two seconds on an idle machine and twenty on a busy one; some tests make five.
vi.setConfig({ testTimeout: 180_000 });

export type Files = Readonly<Record<string, string | Uint8Array>>;

/** The result of the artifact's stand-in runtime: the real registry inside the real bundle. */
export type Opened = {
  readonly registry: FullRegistry;
  readonly run: <T>(context: Partial<ModuleContext>, work: () => T) => T;
  readonly evaluated: readonly string[];
};

const runtime = fileURLToPath(new URL('./runtime-for-tests.ts', import.meta.url));

/** The descriptions of the built-in modules that a build left behind: the next one starts from them. */
let descriptions: string | undefined;

type WorkshopOptions = {
  /** The built-in modules in the artifact, by file name: bundling all takes seconds. Default: all. */
  readonly builtins?: readonly string[];
};

/** A folder with file roots of its own. */
export const workshop = (files: Files, { builtins }: WorkshopOptions = {}) => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'tsalt-bundle-')));
  const write = (more: Files): void => {
    for (const [name, content] of Object.entries(more)) {
      const path = join(dir, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
    }
  };
  write(files);
  const fileRoots = { base: [join(dir, 'salt')], dev: [join(dir, 'dev')] };
  const cacheDir = join(dir, 'cache');
  const build = async (controlFunctions: readonly ControlFunction[] = []): Promise<Artifact> => {
    const known = join(cacheDir, 'artifacts', 'describe-host.json');
    if (descriptions !== undefined && !existsSync(known)) {
      mkdirSync(dirname(known), { recursive: true, mode: 0o700 });
      copyFileSync(descriptions, known);
    }
    const options = { fileRoots, cacheDir, controlFunctions, runtime };
    if (builtins) return buildWith(builtins, options);
    const artifact = await buildArtifact(options);
    descriptions ??= known;
    return artifact;
  };
  /** Describes a user's module from its source, as a build would, without the build. */
  const describe = (name: string): ModuleMeta => {
    const found = discoverUser(fileRoots).modules.find(module => module.name === name);
    if (!found) throw new Error(`no module ${name}`);
    return describeModule(createSources(parse), openZip(found, join(dir, 'zip'))).meta;
  };
  return { dir, write, build, describe, open: async () => open(await build()) };
};

const buildWith = (builtins: readonly string[], options: ArtifactOptions): Promise<Artifact> => {
  const root = sourceRoot();
  const discover = () => {
    const { modules, folders } = findModules(root, options);
    return { modules: modules.filter(one => !one.builtin || builtins.includes(one.name)), folders };
  };
  return cached(root, options, discover, 'host');
};

/** Evaluates an artifact as the loader on a host does. */
export const open = (artifact: Artifact): Opened => {
  const text = readFileSync(artifact.path, 'latin1');
  const TS = { sha: artifact.sha256, pre: Buffer.alloc(0), dir: '/nonexistent' };
  const evaluate = new Function('require', 'process', 'TS', text);
  evaluate(createRequire('/'), process, TS);
  return (TS as unknown as { opened: Opened }).opened;
};
