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

/** The name by which converted modules require `exporting`. */
const exportingName = 'tsalt-exports';

/**
 * Gives a CommonJS module the exports of an ES module. esbuild puts functions for that into every
 * file, which make the getters of all exports twice, one behind the other.
 */
const exporting = `const define = Object.defineProperty;
module.exports = (to, names) => {
  define(to, '__esModule', { value: true });
  for (const name in names) define(to, name, { get: names[name], enumerable: true });
};
`;

/** The code that esbuild writes in front of a module, up to its exports, and these. */
const prelude =
  /var __defProp=.*__toCommonJS=mod=>__copyProps\(__defProp\(\{\},"__esModule",\{value:!0\}\),mod\);var (\w+)=\{\};__export\(\1,(\{[^{}]*\})\);module\.exports=__toCommonJS\(\1\);/;
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
    build.onResolve({ filter: new RegExp(`^${exportingName}$`) }, ({ path }) => ({
      path,
      namespace: exportingName,
    }));
    build.onLoad({ filter: /.*/, namespace: exportingName }, () => ({ contents: exporting }));
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
  const code = withOneGetter(await convert(text, options));
  converted.set(path, { sha256: hash, code });
  return code;
};

/** Lets a converted module make the getters of its exports once. Code stays where the map has it. */
const withOneGetter = (code: string): string => {
  const [before, name, names] = prelude.exec(code) ?? [];
  if (before === undefined || name === undefined) return code;
  const rest = code.replace(before, () => '');
  if (new RegExp(`\\b(?:${name}|__(?:copyProps|reExport|toESM|export|defProp))\\b`).test(rest))
    return code;
  const call = `require(${JSON.stringify(exportingName)})(module.exports,${names});`;
  return call.length > before.length
    ? code
    : code.replace(before, () => call.padEnd(before.length));
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
