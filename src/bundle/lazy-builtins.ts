import { join } from 'node:path';
import type * as esbuild from 'esbuild';

/** A module of Node that our own files import as a whole. */
const whole = /^node:fs$/;

/**
 * Modules of Node that take it a millisecond or more to load, and that many runs do without. What
 * Node itself has loaded before an artifact starts is not worth a getter.
 */
const slow =
  /^node:(?:child_process|crypto|dgram|dns|dns\/promises|fs\/promises|http|https|net|os|readline|stream|stream\/promises|string_decoder|timers\/promises|tls|v8|worker_threads|zlib)$/;

const namespace = 'builtin';
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
    for (const filter of [slow, whole])
      build.onResolve({ filter }, ({ path, importer, pluginData }) => {
        if (pluginData === asIs) return { path, external: true };
        return importer.startsWith(own) ? { path, namespace } : undefined;
      });
    build.onLoad({ filter: /.*/, namespace }, ({ path }) => ({
      contents: slow.test(path) ? lazyModule(path) : wholeModule(path),
      loader: 'js',
      pluginData: asIs,
      resolveDir: root,
    }));
  },
});

/**
 * Returns a CommonJS module that has the exports of one of Node: it inherits them, since esbuild copies
 * what is a module's own into each file that imports it.
 */
const wholeModule = (name: string): string =>
  `module.exports = Object.create(require(${JSON.stringify(name)}));`;

/** As `wholeModule`; Node's is loaded when the first export is used. */
const lazyModule = (name: string): string => `let loaded;
const load = () => loaded ??= require(${JSON.stringify(name)});
module.exports = Object.create(new Proxy({}, {
  get: (_, name) => name === '__esModule' ? undefined : load()[name],
  has: (_, name) => name in load(),
}));
`;
