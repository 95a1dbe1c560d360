// Builds what programs import from the package: JavaScript and declarations of `tsalt-ssh`,
// `tsalt-ssh/module`, `tsalt-ssh/sls`, `tsalt-ssh/testing` and `tsalt-ssh/vitest`.
import { execFileSync } from 'node:child_process';
import { readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Entries by their name in dist. */
const entries = {
  module: 'src/modules/api.ts',
  sls: 'src/render/ts/sls-api.ts',
  testing: 'src/modules/testing.ts',
  vitest: 'src/modules/vitest.ts',
};

/** The library is in main.cjs, which the command line is made of: its 3 MB are there once. */
const library = `import { createRequire } from 'node:module';
const { library } = createRequire(import.meta.url)('./main.cjs');
export const { connect, loadRoster, run, showError, TsaltError } = library();
`;

export const buildPackageApi = async () => {
  await build({
    entryPoints: Object.fromEntries(
      Object.entries(entries).map(([name, source]) => [name, root + source]),
    ),
    outdir: `${root}dist`,
    chunkNames: 'shared-[hash]',
    bundle: true,
    // One context for modules and their tests.
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    charset: 'utf8',
    external: ['vitest'],
    alias: { 'tsalt-ssh/module': `${root}src/modules/api.ts` },
    logLevel: 'warning',
  });
  await writeFile(`${root}dist/index.js`, library);
  await writeDeclarations();
};

const types = `${root}dist/types`;

const writeDeclarations = async () => {
  const tsc = createRequire(import.meta.url).resolve('typescript/package.json');
  execFileSync(
    process.execPath,
    [join(dirname(tsc), 'bin/tsc'), '-p', `${root}scripts/tsconfig.declarations.json`],
    { stdio: 'inherit' },
  );
  const used = new Set();
  const visit = async file => {
    if (used.has(file)) return;
    used.add(file);
    const text = await readFile(file, 'utf8');
    // In declarations, TypeScript looks for the neighbour of a .js file.
    const next = text.replace(/(from |import\()(['"])(\.[^'"]+)\.ts\2/g, '$1$2$3.js$2');
    if (next !== text) await writeFile(file, next);
    for (const [, path] of next.matchAll(/(?:from |import\()['"](\.[^'"]+)\.js['"]/g))
      await visit(resolve(dirname(file), `${path}.d.ts`));
  };
  const sources = ['src/library/index.ts', ...Object.values(entries)];
  for (const source of sources)
    await visit(resolve(types, source.replace(/^src\//, '').replace(/\.ts$/, '.d.ts')));
  await removeUnused(types, used);
};

/** Removes the declarations of files that only the implementation uses. */
const removeUnused = async (folder, used) => {
  let isEmpty = true;
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) isEmpty = (await removeUnused(path, used)) && isEmpty;
    else if (used.has(path)) isEmpty = false;
    else await rm(path);
  }
  if (isEmpty) await rmdir(folder);
  return isEmpty;
};
