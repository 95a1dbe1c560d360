import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { buildArtifact } from '../../src/bundle/artifact.ts';
import { controlFunctions } from '../../src/wrapper/table.ts';
import { scratch } from '../helpers/hosts.ts';
import { folder } from '../roster/helper.ts';

const files = {
  'states/_modules/greet.ts':
    "import { names } from '../lib/names.ts';\nexport const hello = (): string => names.join(' ');\n",
  'states/lib/names.ts': "export const names = ['a', 'b'];\n",
  'states/_grains/own.ts': 'export const own = () => ({ here: true });\n',
};

test('the artifact of a project has one hash, whenever it is built', async () => {
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
