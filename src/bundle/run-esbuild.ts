import { existsSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import * as esbuild from 'esbuild';
import { apiFunction, entryPrefix } from './entry.ts';
import { lazyBuiltins } from './lazy-builtins.ts';
import { define, ownScopes } from './own-scopes.ts';
import { archiveImports } from './zip.ts';

/** A bundle that esbuild made. */
export type Bundled = {
  readonly text: string;
  /** The source map of the text, as JSON. */
  readonly map: string;
  readonly inputs: readonly string[];
  /** Files whose creation would change the result. */
  readonly absent: readonly string[];
};

type Output =
  | ({ readonly ok: true } & Bundled)
  | { readonly ok: false; readonly reason: string; readonly absent: readonly string[] };

export type Bundling = {
  /** Files to be bundled in scopes of their own. */
  readonly own?: ReadonlySet<string>;
  /** Whether functions and classes may lose their names: V8 then reads a quarter less. */
  readonly shortNames?: boolean;
  /** Texts that the bundled one requires by a name that begins with `entryPrefix`. */
  readonly texts?: ReadonlyMap<string, string> | undefined;
  /** The names that `tsalt-ssh/module` exports, if it is in a base that the bundle is linked to. */
  readonly api?: readonly string[] | undefined;
};

/** The package of our functions for modules. */
const apiName = 'tsalt-ssh/module';

/** The file of this package that has these functions. */
export const apiFile = (root: string): string => join(root, 'src', 'modules', 'api.ts');

/** Bundles a text and the files that it imports. If that fails, returns the reason. */
export const runEsbuild = async (
  root: string,
  text: string,
  { own = new Set(), shortNames = false, texts, api }: Bundling = {},
): Promise<Output> => {
  const missing: string[] = [];
  try {
    const { outputFiles, metafile } = await esbuild.build({
      stdin: { contents: text, resolveDir: root, sourcefile: 'tsalt-ssh-artifact.js' },
      absWorkingDir: root,
      bundle: true,
      write: false,
      metafile: true,
      outfile: join(root, 'artifact.js'),
      sourcemap: 'external',
      sourcesContent: false,
      // Without own scopes, modules are only checked; a top-level await is not an error then.
      format: own.size > 0 ? 'cjs' : 'esm',
      platform: 'node',
      target: 'node18',
      charset: 'ascii',
      minifyWhitespace: true,
      minifySyntax: true,
      minifyIdentifiers: shortNames,
      legalComments: 'none',
      logLevel: 'silent',
      tsconfigRaw: {},
      supported,
      plugins: [
        ...(api ? [linkedApi(api, own.size > 0)] : []),
        ...(texts ? [withTexts(root, texts)] : []),
        lazyBuiltins(root),
        archiveImports,
        missingPackages(missing),
        ...(own.size > 0 ? [ownScopes(root, own)] : []),
      ],
      alias: api ? {} : { [apiName]: apiFile(root) },
      define,
    });
    const inputs = Object.keys(metafile.inputs)
      .map(path => resolve(root, path.replace(/^module:(.*)\.cjs$/, '$1')))
      .filter(existsSync);
    const [map, code] = outputFiles.map(({ text: content }) => content);
    return {
      ok: true,
      text: code ?? '',
      map: map ?? '',
      inputs: withPackages(inputs),
      absent: missing,
    };
  } catch (error) {
    const failure = error as Partial<esbuild.BuildFailure>;
    if (!failure.errors) throw error;
    return { ok: false, ...explain(root, failure.errors) };
  }
};

/**
 * Takes `tsalt-ssh/module` from the base that a bundle will be linked to.
 *
 * @param names - what it exports
 * @param runs - whether the bundle will run; otherwise esbuild only looks at the names of imports
 */
const linkedApi = (names: readonly string[], runs: boolean): esbuild.Plugin => ({
  name: 'linked-api',
  setup: build => {
    const namespace = 'linked';
    build.onResolve({ filter: /^tsalt-ssh\/module$/ }, () => ({ path: apiName, namespace }));
    build.onLoad({ filter: /.*/, namespace }, () => ({
      contents: runs
        ? `module.exports = ${apiFunction}();`
        : `let any; export { ${names.map(name => `any as ${name}`).join(', ')} };`,
      loader: 'js',
    }));
  },
});

const withTexts = (root: string, texts: ReadonlyMap<string, string>): esbuild.Plugin => ({
  name: 'texts',
  setup: build => {
    const namespace = 'text';
    build.onResolve({ filter: new RegExp(`^${entryPrefix}`) }, ({ path }) => ({ path, namespace }));
    build.onLoad({ filter: /.*/, namespace }, ({ path }) => ({
      contents: texts.get(path) ?? '',
      loader: 'js',
      resolveDir: root,
    }));
  },
});

/** The artifact is a script, which cannot import: `await import('node:os')` becomes a require. */
const supported = { 'dynamic-import': false };

/** Records where optional packages would be found, as in `try { require('x') } catch {}`. */
const missingPackages = (places: string[]): esbuild.Plugin => ({
  name: 'missing-packages',
  setup: build => {
    build.onResolve({ filter: /^[^./]/ }, async ({ path, pluginData, importer, ...at }) => {
      if (pluginData === asking || isBuiltin(path) || /[\\/]node_modules[\\/]/.test(importer))
        return undefined;
      const { resolveDir, kind, namespace } = at;
      const asked = { resolveDir, kind, importer, namespace, pluginData: asking };
      const { errors } = await build.resolve(path, asked);
      if (errors.length > 0) places.push(...wouldResolve(resolveDir, path));
      return undefined;
    });
  },
});

const asking = Symbol('asking');

/** Adds the package.json files that led esbuild to files of node_modules. */
const withPackages = (inputs: readonly string[]): string[] => {
  const packages = inputs.flatMap(path => {
    const folder = /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(path)?.[0];
    return folder === undefined ? [] : [join(folder, 'package.json')];
  });
  return [...new Set([...inputs, ...packages.filter(existsSync)])];
};

const explain = (
  root: string,
  errors: readonly esbuild.Message[],
): { reason: string; absent: string[] } => {
  const [first] = errors;
  const place = first?.location;
  const at = place ? ` (${resolve(root, place.file)}:${place.line}:${place.column + 1})` : '';
  const absent = errors.flatMap(({ text, location }) => {
    const specifier = /^Could not resolve "([^"]+)"/.exec(text)?.[1];
    return specifier === undefined || !location
      ? []
      : wouldResolve(dirname(resolve(root, location.file)), specifier);
  });
  return { reason: `${reasonOf(root, first?.text ?? 'unknown')}${at}`, absent };
};

/** Returns esbuild's message, with the name under which a module imports ours. */
const reasonOf = (root: string, text: string): string => {
  const [, file = '', name] =
    /^No matching export in "([^"]+)" for import "([^"]+)"$/.exec(text) ?? [];
  if (name === undefined) return text;
  const isApi = file.endsWith(`:${apiName}`) || resolve(root, file) === apiFile(root);
  return `There is no export '${name}' in ${isApi ? apiName : file}`;
};

/** Returns the paths at which a missing import would be found. */
const wouldResolve = (folder: string, specifier: string): string[] => {
  if (specifier.startsWith('.')) {
    const base = resolve(folder, specifier);
    return ['', '.ts', '.mts', '.js', '.mjs', '.cjs', '/index.ts', '/index.js'].map(
      end => base + end,
    );
  }
  const name = specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
  const places: string[] = [];
  for (let at = folder; ; at = dirname(at)) {
    places.push(join(at, 'node_modules', name));
    if (at === dirname(at)) return places;
  }
};

/** Returns the names that `tsalt-ssh/module` exports. */
export const apiNames = async (root: string): Promise<readonly string[]> => {
  const { metafile } = await esbuild.build({
    entryPoints: [apiFile(root)],
    absWorkingDir: root,
    write: false,
    metafile: true,
    outfile: join(root, 'api.js'),
    format: 'esm',
    tsconfigRaw: {},
    logLevel: 'silent',
  });
  return Object.values(metafile.outputs).flatMap(({ exports }) => exports);
};
