// Builds the programs for hosts (the artifact, and the one that only collects grains) of a tree
// without modules of its own and leaves them in dist/prebuilt, where first runs take them from
// (src/bundle/prebuilt.ts), and the workers that render code into dist.
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buildArtifact, buildGrainsProgram } from '../src/bundle/artifact.ts';
import { discoverBuiltins } from '../src/bundle/discover.ts';
import { kindsOf } from '../src/bundle/entry.ts';
import { baseIn } from '../src/bundle/link.ts';
import { packageRoot } from '../src/bundle/locate.ts';
import { outOfFolder, prebuiltFiles, prebuiltIndex } from '../src/bundle/prebuilt.ts';
import {
  buildWorker,
  builtWasm,
  builtWorker,
  quickjsFile,
  workerNames,
} from '../src/render/confined/worker-file.ts';
import { controlFunctions } from '../src/wrapper/table.ts';
import { compress, writeCompressed } from './compressed-program.ts';

const root = packageRoot();

// The workers that render code, and the QuickJS that one of them runs.
for (const name of workerNames)
  writeCompressed(join(root, 'dist', builtWorker(name)), await buildWorker(name, root));
copyFileSync(quickjsFile(), join(root, 'dist', builtWasm));

/** Builds one program in a new folder and copies what was built. */
const prebuild = async (goal: 'host' | 'grains'): Promise<void> => {
  const cacheDir = mkdtempSync(join(tmpdir(), 'tsalt-prebuilt-'));
  try {
    const told = goal === 'host' ? controlFunctions() : [];
    const build = goal === 'host' ? buildArtifact : buildGrainsProgram;
    const artifact = await build({ fileRoots: {}, cacheDir, controlFunctions: told });
    const dir = dirname(artifact.path);
    const made = (ending: RegExp): Buffer => {
      const name = readdirSync(dir).find(one => ending.test(one));
      if (name === undefined) throw new Error(`The build left nothing named ${ending}`);
      return readFileSync(join(dir, name));
    };
    const found = discoverBuiltins(root).modules.filter(({ kind }) => kindsOf[goal].has(kind));
    const request = { root, goal, found, controlFunctions: told };
    const to = prebuiltFiles(root, goal);
    mkdirSync(dirname(to.index), { recursive: true });
    const pack = (file: string, content: string | Buffer): void =>
      writeFileSync(file, compress(content));
    pack(to.packed, readFileSync(artifact.path));
    pack(to.map, made(/\.map$/));
    pack(to.meta, outOfFolder(root, made(/\.meta$/).toString()));
    if (goal === 'host')
      pack(to.described, outOfFolder(root, made(/^describe-host\.json$/).toString()));
    const index = JSON.parse(made(/^index-.*\.json$/).toString());
    const base =
      goal === 'host'
        ? await baseIn(root, readFileSync(artifact.path, 'latin1'), artifact.modules)
        : undefined;
    writeFileSync(to.index, prebuiltIndex(request, index, base));
  } finally {
    rmSync(cacheDir, { recursive: true, force: true });
  }
};

for (const goal of ['host', 'grains'] as const) await prebuild(goal);
