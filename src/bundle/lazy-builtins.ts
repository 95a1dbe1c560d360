import { createRequire } from 'node:module';
import { join } from 'node:path';
import type * as esbuild from 'esbuild';

/**
 * Modules of Node that take it a millisecond or more to load, and that many runs do without. What
 * Node itself has loaded before an artifact starts is not worth a getter.
 */
const slow =
  /^node:(?:child_process|crypto|dgram|dns|dns\/promises|fs\/promises|http|https|net|readline|stream|stream\/promises|string_decoder|timers\/promises|tls|v8|worker_threads|zlib)$/;

const namespace = 'slow-builtin';
const asIs = Symbol('asIs');

/**
 * Loads slow modules of Node when their first export is used, not when a file that imports them is
 * evaluated. Only for tsalt-ssh's own files: a module of the user may look at what it imported.
 *
 * @param root - the folder that contains `src`
 */
export const lazyBuiltins = (root: string): esbuild.Plugin => ({
  name: 'lazy-builtins',
  setup: build => {
    const own = join(root, 'src', '/');
    build.onResolve({ filter: slow }, ({ path, importer, pluginData }) => {
      if (pluginData === asIs) return { path, external: true };
      return importer.startsWith(own) ? { path, namespace } : undefined;
    });
    build.onLoad({ filter: /.*/, namespace }, ({ path }) => ({
      contents: lazyModule(path),
      loader: 'js',
      pluginData: asIs,
      resolveDir: root,
    }));
  },
});

const requireHere = createRequire(import.meta.url);

/** Returns a CommonJS module with the exports that the module has here: Node of a host may lack some. */
const lazyModule = (name: string): string => {
  const names = Object.keys(requireHere(name) as object);
  return `const load = () => require(${JSON.stringify(name)});
for (const name of ${JSON.stringify(names.join(' '))}.split(' '))
  Object.defineProperty(exports, name, { enumerable: true, get: () => load()[name] });
`;
};
