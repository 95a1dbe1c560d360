// Bundles the command line into one file, so that it starts fast and runs on Node 20 as it is.
// Modules that a run does not need are not evaluated; esbuild itself is only required
// when an artifact must be built. The one of a tree without modules of its own is built here
// (scripts/prebuild.ts).
import { execFileSync } from 'node:child_process';
import { chmod, copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { apart, bundleMain, withScript } from './bundle-main.mjs';
import { buildPackageApi } from './package-api.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

await rm(`${root}dist`, { recursive: true, force: true });
await mkdir(`${root}dist`);

await withScript('scripts/types.ts', file =>
  execFileSync(process.execPath, [file], { stdio: 'inherit' }),
);

// In the npm package the sources that artifacts are bundled from are one file.
const sources = await withScript('src/bundle/packed-sources.ts', async file => {
  const { packSources } = await import(file);
  return packSources(root);
});
await mkdir(`${root}dist/prebuilt`);
await writeFile(`${root}dist/prebuilt/sources.br`, sources.bytes);
await bundleMain({
  outfile: `${root}dist/main.cjs`,
  sourcesId: sources.id,
  names: process.argv.includes('--names'),
});
const { writeCompressed } = await withScript('scripts/compressed-program.ts', file => import(file));
for (const { file, contents } of apart) {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: root },
    bundle: true,
    write: false,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    charset: 'ascii',
    minify: true,
    // Scripts of node:vm have no import().
    supported: { 'dynamic-import': false },
    logLevel: 'warning',
  });
  writeCompressed(`${root}dist/${file}`, outputFiles[0].contents);
}
await copyFile(`${root}scripts/launcher.cjs`, `${root}dist/tsalt-ssh.cjs`);
await chmod(`${root}dist/tsalt-ssh.cjs`, 0o755);

await buildPackageApi();
await withScript('scripts/prebuild.ts', file =>
  execFileSync(process.execPath, [file], { stdio: 'inherit' }),
);
