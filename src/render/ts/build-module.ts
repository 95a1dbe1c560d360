import { SourceMap } from 'node:module';
import { dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BuildFailure, BuildResult, Metafile, OutputFile, Plugin } from 'esbuild';
import { messageOf, type TsaltError } from '../../protocol/error.ts';
import { checkTrusted } from '../../trust/check.ts';
import { renderError } from '../render-error.ts';
import * as api from './sls-api.ts';
import type { ModuleProgram } from './worker.ts';

export type BuiltModule = { readonly program: ModuleProgram; readonly map: SourceMap };

const known = new Map<string, Promise<BuiltModule>>();
const maxKnown = 500;

/**
 * Bundles a TypeScript or JavaScript text with all its imports. The same text is bundled once.
 *
 * @throws TsaltError `ts-syntax`
 */
export const buildModule = (text: string, file: string): Promise<BuiltModule> => {
  const key = `${file}\0${text}`;
  const found = known.get(key);
  if (found) return found;
  if (known.size >= maxKnown) known.clear();
  const fresh = bundle(text, file, key);
  known.set(key, fresh);
  fresh.catch(() => known.delete(key));
  return fresh;
};

const bundle = async (text: string, file: string, key: string): Promise<BuiltModule> => {
  // `file` is shown to the user and may be relative; imports are resolved from here.
  const path = resolve(file);
  const made = (format: ModuleProgram['format']) => build(text, path, format);
  let format: ModuleProgram['format'] = 'cjs';
  const result = await made(format)
    .catch((error: BuildFailure) => {
      if (!error.errors?.every(({ text: message }) => message.startsWith('Top-level await')))
        throw error;
      format = 'esm';
      return made(format);
    })
    .catch((error: BuildFailure) => {
      throw notBuilt(error, file, text);
    });
  for (const input of Object.keys(result.metafile.inputs))
    if (input !== '<stdin>') checkTrusted(input, `What ${file} imports`);
  const output = (ending: string): string | undefined =>
    result.outputFiles.find(one => one.path.endsWith(ending))?.text;
  return {
    program: { key, code: output('.js') ?? '', format, file, path },
    map: new SourceMap(JSON.parse(output('.map') ?? '{}')),
  };
};

const build = async (
  text: string,
  path: string,
  format: ModuleProgram['format'],
): Promise<BuildResult & { outputFiles: OutputFile[]; metafile: Metafile }> => {
  const esbuild = await import('esbuild');
  return esbuild.build({
    stdin: { contents: text, sourcefile: path, resolveDir: dirname(path), loader: 'ts' },
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    format,
    target: 'node20',
    sourcemap: 'external',
    outdir: '/',
    logLevel: 'silent',
    plugins: [slsPlugin],
    define: {
      'import.meta.url': JSON.stringify(pathToFileURL(path).href),
      // A CommonJS module receives them as parameters.
      ...(format === 'esm'
        ? { __filename: JSON.stringify(path), __dirname: JSON.stringify(dirname(path)) }
        : {}),
    },
  });
};

const slsPlugin: Plugin = {
  name: 'tsalt-ssh/sls',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^tsalt-ssh\/sls$/ }, () => ({ path: 'sls', namespace: 'tsalt-ssh' }));
    onLoad({ filter: /.*/, namespace: 'tsalt-ssh' }, () => ({
      contents: Object.keys(api)
        .map(name => `export const ${name} = globalThis.__tsalt_sls__.${name};`)
        .join('\n'),
    }));
  },
};

const notBuilt = (error: BuildFailure, file: string, text: string): TsaltError => {
  const [first] = error.errors ?? [];
  const place = first?.location;
  const own = place && file.endsWith(place.file.replace(/^(?:\.\.\/)+/, ''));
  const message = first?.text ?? messageOf(error);
  return renderError(
    'ts-syntax',
    `TypeScript: ${message}`,
    {
      file: own || !place ? file : place.file,
      text: own ? text : (place?.lineText ?? ''),
      line: own ? place.line : place ? 1 : undefined,
      column: place ? place.column + 1 : undefined,
    },
    message.includes('"tsalt-ssh/module"')
      ? { hint: "'tsalt-ssh/module' is for modules of hosts; here import from 'tsalt-ssh/sls'." }
      : {},
  );
};
