// Builds the artifact of a tree without modules of its own and leaves it in dist/prebuilt, where
// first runs take it from (src/bundle/prebuilt.ts), and the workers that render code into dist.
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
import { buildArtifact } from '../src/bundle/artifact.ts';
import { discoverBuiltins } from '../src/bundle/discover.ts';
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

const cacheDir = mkdtempSync(join(tmpdir(), 'tsalt-prebuilt-'));
try {
  const told = controlFunctions();
  const artifact = await buildArtifact({ fileRoots: {}, cacheDir, controlFunctions: told });
  await artifact.compressed();
  const dir = dirname(artifact.path);
  const made = (ending: RegExp): Buffer => {
    const name = readdirSync(dir).find(one => ending.test(one));
    if (name === undefined) throw new Error(`The build left nothing named ${ending}`);
    return readFileSync(join(dir, name));
  };
  const request = { root, found: discoverBuiltins(root).modules, controlFunctions: told };
  const to = prebuiltFiles(root);
  mkdirSync(dirname(to.index), { recursive: true });
  const pack = (file: string, content: string | Buffer): void =>
    writeFileSync(file, compress(content));
  writeFileSync(to.packed, made(/\.br$/));
  pack(to.map, made(/\.map$/));
  pack(to.meta, outOfFolder(root, made(/\.meta$/).toString()));
  pack(to.described, outOfFolder(root, made(/^describe-host\.json$/).toString()));
  writeFileSync(to.index, prebuiltIndex(request, JSON.parse(made(/^index-.*\.json$/).toString())));
} finally {
  rmSync(cacheDir, { recursive: true, force: true });
}
