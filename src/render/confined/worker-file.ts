import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The threads and processes that render, with the source file of each. */
const workers = {
  script: 'render/script/worker.ts',
  program: 'render/ts/worker.ts',
  host: 'control/apart/child.ts',
} as const;

type WorkerName = keyof typeof workers;

export const workerNames = Object.keys(workers) as WorkerName[];

/** Returns the name of a worker's file in a built command line. */
export const builtWorker = (name: WorkerName): string => `${name}-worker.cjs`;
export const builtWasm = 'quickjs.wasm';

const here = fileURLToPath(import.meta.url);
const isBuilt = !here.endsWith('.ts');

/**
 * Returns the code of a worker: the file beside the built command line. Unbuilt sources are built
 * first.
 */
export const workerCode = async (
  name: WorkerName,
): Promise<{ code: string | URL; eval: boolean }> => {
  if (isBuilt) return { code: join(dirname(here), builtWorker(name)), eval: false };
  return { code: await buildWorker(name, join(dirname(here), '../../..')), eval: true };
};

/** A compiled module; its real type belongs to the DOM types, which this project does not use. */
export type Wasm = object;

const compileWasm = (
  globalThis as unknown as { WebAssembly: { compile: (bytes: Uint8Array) => Promise<Wasm> } }
).WebAssembly.compile;

/** QuickJS, compiled by V8: all workers share it. */
export const quickjsModule = async (): Promise<Wasm> => {
  const file = isBuilt ? join(dirname(here), builtWasm) : quickjsFile();
  return compileWasm(await readFile(file));
};

/** Returns the path of QuickJS in its package. */
export const quickjsFile = (): string =>
  createRequire(import.meta.url).resolve('@jitl/quickjs-ng-wasmfile-release-sync/wasm');

/** Bundles a worker from the sources of the package in `root`. */
export const buildWorker = async (name: WorkerName, root: string): Promise<string> => {
  const { build } = await import('esbuild');
  const folder = join(root, 'src');
  const bundle = async (entry: string, more: object): Promise<string> => {
    const { outputFiles } = await build({
      entryPoints: [join(folder, entry)],
      bundle: true,
      write: false,
      charset: 'ascii',
      logLevel: 'warning',
      ...more,
    });
    return outputFiles?.[0]?.text ?? '';
  };
  const guest = await bundle('render/script/guest/main.ts', {
    format: 'iife',
    globalName: 'guest',
    target: 'es2022',
    minifyWhitespace: true,
  });
  return bundle(workers[name], {
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    minifySyntax: true,
    minifyWhitespace: true,
    lineLimit: 400,
    external: ['esbuild'],
    define: {
      guestCode: JSON.stringify(`(() => {${guest}return guest.guestFor})()`),
      'import.meta.url': 'importMetaUrl',
    },
    banner: { js: "const importMetaUrl = require('node:url').pathToFileURL(__filename).href;" },
  });
};
