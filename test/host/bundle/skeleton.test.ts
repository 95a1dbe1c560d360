import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { buildArtifact } from '../../../src/bundle/artifact.ts';
import { skeletonKinds, writeSkeleton } from '../../../src/bundle/skeleton.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const dir = mkdtempSync(join(root, 'test/.skeleton-'));
afterAll(() => removeFolder(dir));

const places = { root: join(dir, 'salt'), testDir: join(dir, 'tests') };

test('every kind of skeleton is documented, bundles, and passes the test that comes with it', {
  tags: 'slow',
  timeout: 240_000,
}, async () => {
  for (const kind of skeletonKinds) {
    const name = kind === 'resource' ? 'my_cloud.thing' : `my_${kind}`;
    const [module = ''] = await writeSkeleton(kind, name, places);
    expect(readFileSync(module, 'utf8')).toMatch(/^\/\*\*/);
  }
  const { modules } = await buildArtifact({
    fileRoots: { base: [places.root] },
    cacheDir: join(dir, 'cache'),
  });
  const own = modules.filter(({ builtin }) => !builtin);
  expect(own.length).toBe(skeletonKinds.length + 1);
  expect(own.flatMap(({ broken }) => broken ?? [])).toEqual([]);
  const undocumented = own
    .flatMap(module => module.functions.map(fun => [module.file, fun] as const))
    .filter(([, fun]) => !fun.doc || fun.signature.positional.some(param => !param.doc));
  expect(undocumented).toEqual([]);
  const config = join(dir, 'vitest.config.ts');
  const { writeFileSync } = await import('node:fs');
  writeFileSync(
    config,
    `export default { resolve: { alias: {
      'tsalt-ssh/module': ${JSON.stringify(join(root, 'src/modules/api.ts'))},
      'tsalt-ssh/testing': ${JSON.stringify(join(root, 'src/modules/testing.ts'))} } },
      test: { include: ['tests/**/*.test.ts'] } };`,
  );
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const output = execFileSync(
    process.execPath,
    [vitest, 'run', '--root', dir, '--config', config, '--reporter=json'],
    {
      encoding: 'utf8',
      env: { ...process.env, VITEST: '', NODE_OPTIONS: '' },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const report = JSON.parse(output.slice(output.indexOf('{'))) as Record<string, unknown>;
  expect(report).toMatchObject({ success: true, numTotalTestSuites: skeletonKinds.length });
});

test('invalid and existing names are refused', async () => {
  await expect(writeSkeleton('cheese', 'x', places)).rejects.toThrow('is not a kind of module');
  await expect(writeSkeleton('state', '../x', places)).rejects.toThrow('cannot be the name');
  await writeSkeleton('state', 'twice', places);
  await expect(writeSkeleton('state', 'twice', places)).rejects.toThrow('is there already');
});
