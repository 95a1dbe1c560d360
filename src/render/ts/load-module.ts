import { createRequire, SourceMap } from 'node:module';
import { dirname, resolve } from 'node:path';
import { compileFunction } from 'node:vm';
import type { BuildFailure, Plugin } from 'esbuild';
import { messageOf } from '../../protocol/error.ts';
import { checkTrusted } from '../../trust/check.ts';
import { renderFault } from '../fault.ts';
import { bounded } from './bounded.ts';
import * as api from './sls-api.ts';

export type Loaded = { readonly exports: Record<string, unknown>; readonly map: SourceMap };

const loaded = new Map<string, Promise<Loaded>>();
const maxLoaded = 500;

/**
 * The exports of a TypeScript or JavaScript text, with all that it imports. The same text is
 * loaded once.
 *
 * @throws TsaltError `ts-syntax`, `ts-failed`
 */
export const loadModule = (text: string, file: string): Promise<Loaded> => {
  const key = `${file}\0${text}`;
  const known = loaded.get(key);
  if (known) return known;
  if (loaded.size >= maxLoaded) loaded.clear();
  const fresh = compile(text, file);
  loaded.set(key, fresh);
  fresh.catch(() => loaded.delete(key));
  return fresh;
};

const compile = async (text: string, file: string): Promise<Loaded> => {
  const { build } = await import('esbuild');
  // `file` is as the user knows it, perhaps relative; what it imports is looked for from here.
  const path = resolve(file);
  const result = await build({
    stdin: { contents: text, sourcefile: path, resolveDir: dirname(path), loader: 'ts' },
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    sourcemap: 'external',
    outdir: '/',
    logLevel: 'silent',
    plugins: [slsPlugin],
  }).catch((error: BuildFailure) => {
    throw notBuilt(error, file, text);
  });
  for (const input of Object.keys(result.metafile.inputs))
    if (input !== '<stdin>') checkTrusted(input, `What ${file} imports`);
  const output = result.outputFiles.find(({ path }) => path.endsWith('.js'))?.text ?? '';
  const mapText = result.outputFiles.find(({ path }) => path.endsWith('.map'))?.text ?? '{}';
  const map = new SourceMap(JSON.parse(mapText));
  const module = { exports: {} as Record<string, unknown> };
  try {
    const body = compileFunction(
      output,
      ['module', 'exports', 'require', '__filename', '__dirname', slot],
      {
        filename: file,
      },
    );
    bounded(() => body(module, module.exports, createRequire(path), path, dirname(path), api));
  } catch (error) {
    throw thrown(error, file, text, map);
  }
  return { exports: module.exports, map };
};

const slot = '__tsalt_sls__';

const slsPlugin: Plugin = {
  name: 'tsalt-ssh/sls',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^tsalt-ssh\/sls$/ }, () => ({ path: 'sls', namespace: 'tsalt-ssh' }));
    onLoad({ filter: /.*/, namespace: 'tsalt-ssh' }, () => ({
      contents: Object.keys(api)
        .map(name => `export const ${name} = ${slot}.${name};`)
        .join('\n'),
    }));
  },
};

const notBuilt = (error: BuildFailure, file: string, text: string) => {
  const [first] = error.errors ?? [];
  const place = first?.location;
  const own = place && file.endsWith(place.file.replace(/^(?:\.\.\/)+/, ''));
  return renderFault('ts-syntax', `TypeScript: ${first?.text ?? messageOf(error)}`, {
    file: own || !place ? file : place.file,
    text: own ? text : (place?.lineText ?? ''),
    line: own ? place.line : place ? 1 : undefined,
    column: place ? place.column + 1 : undefined,
  });
};

/** What the user's code threw, at its own line; never with a stack. */
export const thrown = (error: unknown, file: string, text: string, map: SourceMap) => {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  const at = stack.indexOf(`${file}:`);
  const [, line, column] = /^:(\d+):(\d+)/.exec(at < 0 ? '' : stack.slice(at + file.length)) ?? [];
  const entry = line ? map.findEntry(Number(line) - 1, Number(column) - 1) : undefined;
  const found = entry as { originalLine?: number; originalColumn?: number } | undefined;
  return renderFault(
    'ts-failed',
    `${(error as Error)?.name ?? 'Error'}: ${messageOf(error)}`,
    {
      file,
      text,
      line: plusOne(found?.originalLine),
      column: plusOne(found?.originalColumn),
    },
    { cause: error },
  );
};

const plusOne = (count: number | undefined): number | undefined =>
  count === undefined ? undefined : count + 1;
