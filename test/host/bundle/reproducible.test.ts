import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { zipSync } from 'fflate';
import { expect, onTestFinished, test } from 'vitest';
import { buildArtifact } from '../../../src/bundle/artifact.ts';
import { packageRoot } from '../../../src/bundle/locate.ts';
import { controlFunctions } from '../../../src/wrapper/table.ts';
import { scratch } from '../../helpers/hosts.ts';
import { folder } from '../../roster/helper.ts';

const files = {
  'states/_modules/greet.ts':
    "import { names } from '../lib/names.ts';\nexport const hello = (): string => names.join(' ');\n",
  'states/lib/names.ts': "export const names = ['a', 'b'];\n",
  'states/_grains/own.ts': 'export const own = () => ({ here: true });\n',
};

test('the artifact of a project has one hash, whenever it is built', { tags: 'slow' }, async () => {
  const hashes: string[] = [];
  const dir = folder(files);
  for (const _ of [1, 2]) {
    const cache = scratch('tsalt-repro');
    onTestFinished(cache.remove);
    const artifact = await buildArtifact({
      fileRoots: { base: [join(dir, 'states')] },
      cacheDir: cache.path,
      controlFunctions: controlFunctions(),
    });
    const text = brotliDecompressSync(await artifact.compressed());
    expect(createHash('sha256').update(text).digest('hex')).toBe(artifact.sha256);
    hashes.push(artifact.sha256);
  }
  expect(hashes[0]).toBe(hashes[1]);
});

test('a tree has one artifact wherever it lies, and no folder of this machine is in it', async () => {
  const tree = {
    ...files,
    'states/_modules/deep/er.ts':
      "import data from '../lib/data.json';\nimport { late } from 'late';\nexport const all = () => [data, late];\n",
    'states/_modules/lib/data.json': '{}',
    'states/node_modules/late/index.js': 'exports.late = 1;',
    'states/_modules/plain.cjs': 'exports.one = () => 1;',
    'states/_modules/typo.ts': 'export const x = () => 1 +;\n',
    'states/_modules/needs.ts': "import { a } from 'nosuch';\nexport const x = () => a;\n",
  };
  const zip = zipSync({ 'packed/index.js': new TextEncoder().encode('exports.two = () => 2;') });
  const cache = scratch('tsalt-repro');
  onTestFinished(cache.remove);
  const buildIn = async (dir: string) => {
    writeFileSync(join(dir, 'states/_modules/packed.zip'), zip);
    const artifact = await buildArtifact({
      fileRoots: { base: [join(dir, 'states')] },
      cacheDir: cache.path,
      controlFunctions: controlFunctions(),
    });
    const text = readFileSync(artifact.path, 'utf8');
    for (const place of [dir, basename(dir), cache.path, basename(cache.path), packageRoot()])
      expect(text).not.toContain(place);
    expect(text).toContain('"nosuch" (_modules/needs.ts:1:19)');
    return artifact;
  };
  const dirs = [folder(tree), folder(tree)];
  const built = [await buildIn(dirs[0] ?? ''), await buildIn(dirs[1] ?? '')];
  expect(built[1]?.sha256).toBe(built[0]?.sha256);
  const place = (at: number) => built[at]?.modules.find(({ file }) => file === 'plain')?.path;
  expect(dirs.map(dir => join(dir, 'states/_modules/plain.cjs'))).toEqual([place(0), place(1)]);
});

test('every package that is installed is pinned by its hash', () => {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<string, { integrity?: string; link?: boolean }>;
  };
  const loose = Object.entries(lock.packages).filter(
    ([path, { integrity = '' }]) => path !== '' && !/^sha512-[\w+/]{86}==$/.test(integrity),
  );
  expect(loose).toEqual([]);
  expect(Object.keys(lock.packages).length).toBeGreaterThan(50);
});
