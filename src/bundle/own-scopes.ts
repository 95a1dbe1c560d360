import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as esbuild from 'esbuild';
import { sha256 } from './inputs.ts';
import { awaitingModule } from './top-level-await.ts';

export const define = {
  'import.meta.url': '"file:///tsalt-ssh/artifact.js"',
  __filename: '"/tsalt-ssh/artifact.js"',
  __dirname: '"/tsalt-ssh"',
};

const ownScope = 'module';
const asking = Symbol('asking');

/**
 * Converts modules to CommonJS before they are bundled. esbuild puts the names of ES modules into
 * one common scope, which V8 sets up at every start; a CommonJS module is one function that costs
 * nothing until it is called.
 */
export const ownScopes = (root: string, own: ReadonlySet<string>): esbuild.Plugin => ({
  name: 'own-scopes',
  setup: build => {
    const shipped = join(root, 'src', '/');
    // A namespace and an ending of its own: esbuild sees no CommonJS in `x.mjs`, nor in `x.ts`
    // next to a package.json with `"type": "module"`.
    build.onResolve(
      { filter: /^[./]/ },
      async ({ path, importer, namespace, pluginData, ...at }) => {
        if (pluginData === asking) return undefined;
        const { resolveDir, kind } = at;
        const exact = resolve(resolveDir, path);
        // esbuild takes longer to say where a file is than to bundle it.
        if (!own.has(exact) && path.endsWith('.ts') && join(resolveDir, '/').startsWith(shipped))
          return undefined;
        const found = own.has(exact)
          ? { path: exact, errors: [] }
          : await build.resolve(path, {
              resolveDir,
              kind,
              importer,
              namespace,
              pluginData: asking,
            });
        return found.errors.length === 0 && own.has(found.path)
          ? { path: `${found.path}.cjs`, namespace: ownScope }
          : undefined;
      },
    );
    build.onLoad({ filter: /.*/, namespace: ownScope }, async loaded => {
      const path = loaded.path.slice(0, -'.cjs'.length);
      try {
        const code = await toCommonJs(path, {
          loader: /\.m?ts$/.test(path) ? 'ts' : 'js',
          // The next bundling step reads a source's name as a URL.
          sourcefile: pathToFileURL(path).href,
          format: 'cjs',
          target: 'node18',
          minifySyntax: true,
          minifyWhitespace: true,
          tsconfigRaw: {},
          define,
          sourcemap: 'inline',
          sourcesContent: false,
          logLevel: 'silent',
        });
        return { contents: code, loader: 'js', resolveDir: dirname(path) };
      } catch (error) {
        const { errors } = error as esbuild.TransformFailure;
        return {
          errors: errors.map(({ location, ...rest }) => ({
            ...rest,
            location: location && { ...location, file: path },
          })),
        };
      }
    });
  },
});

type Converted = { readonly sha256: string; readonly code: string };

/** The modules that this process has converted: a build after a change converts the changed ones. */
const converted = new Map<string, Converted>();

/** Converts one module to CommonJS, unless it is as it was in the last build. */
const toCommonJs = async (path: string, options: esbuild.TransformOptions): Promise<string> => {
  const text = await readFile(path, 'utf8');
  const known = converted.get(path);
  const hash = sha256(text);
  if (known?.sha256 === hash) return known.code;
  const code = await convert(text, options);
  converted.set(path, { sha256: hash, code });
  return code;
};

/** Converts a text to CommonJS. A top-level `await` makes its exports a promise. */
const convert = async (text: string, options: esbuild.TransformOptions): Promise<string> => {
  try {
    return (await esbuild.transform(text, options)).code;
  } catch (error) {
    const { errors } = error as esbuild.TransformFailure;
    if (!errors?.some(one => /^Top-level await/.test(one.text))) throw error;
    const { format: _, ...rest } = options;
    const module = { ...rest, format: 'esm', target: 'es2022', sourcemap: false } as const;
    const { parse } = await import('@babel/parser');
    return awaitingModule((await esbuild.transform(text, module)).code, parse);
  }
};
