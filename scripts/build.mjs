// Bundles the command line into dist/ so that it starts fast and runs on Node 20 without a loader.
import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));

await mkdir(`${root}dist`, { recursive: true });
await build({
  entryPoints: [`${root}src/main.ts`],
  outfile: `${root}dist/main.mjs`,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  packages: 'external',
  logLevel: 'warning',
});
await writeFile(`${root}dist/tsalt-ssh.cjs`, "#!/usr/bin/env node\nimport('./main.mjs');\n", {
  mode: 0o755,
});
