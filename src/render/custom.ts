import { posix } from 'node:path';
import type { Data } from '../data/value.ts';
import type { FileRoots } from '../fileserver/file-roots.ts';
import { TsaltError } from '../protocol/error.ts';
import { fromJs, toJs } from './js-value.ts';
import { contextOf } from './script/context.ts';
import { bounded } from './ts/bounded.ts';
import { loadModule, thrown } from './ts/load-module.ts';
import { type SlsContext, slsStorage } from './ts/sls-api.ts';
import type { Renderer, RendererTable, Stage } from './types.ts';

const source = /^_renderers\/([A-Za-z_]\w*)\.(?:ts|mts|js|mjs)$/;

/**
 * The user's renderers: `_renderers/NAME.ts` in the file roots, by name. Each exports
 * `render(data, context)`: it gets what the stage before gave and the variables of templates
 * (and `argline`, `tmplpath`), and gives text or data, at once or as a promise. An optional
 * export `kind` says what it is (`text`, `data`, `filter`), so that pipes can be checked.
 * A file is loaded when a pipe first runs it.
 */
export const customRenderers = (files: FileRoots, saltenv = 'base'): RendererTable => {
  const known = tables.get(files) ?? new Map<string, RendererTable>();
  tables.set(files, known);
  const table = known.get(saltenv) ?? find(files, saltenv);
  known.set(saltenv, table);
  return table;
};

const tables = new WeakMap<FileRoots, Map<string, RendererTable>>();

const find = (files: FileRoots, saltenv: string): RendererTable => {
  const table = new Map<string, Renderer>();
  for (const path of files.list(saltenv)) {
    const name = source.exec(path)?.[1];
    if (name !== undefined) table.set(name, lazily(files, path, saltenv));
  }
  return table;
};

const lazily = (files: FileRoots, path: string, saltenv: string): Renderer => {
  const text = files.read(path, saltenv);
  const kind = /^export const kind\b[^=]*=\s*['"](text|data|filter|any)['"]/m.exec(text)?.[1];
  return {
    kind: (kind as Renderer['kind'] | undefined) ?? 'any',
    evaluates: 'user',
    render: (input, stage) => run(files.find(path, saltenv)?.path ?? path, text, input, stage),
  };
};

const run = async (file: string, text: string, input: Data, stage: Stage): Promise<Data> => {
  const { exports, map } = await loadModule(text, file);
  const main = exports.render ?? exports.default;
  if (typeof main !== 'function')
    throw new TsaltError(
      'renderer-no-render',
      `The renderer ${posix.basename(file)} exports no function \`render\`.`,
      {
        kind: 'render',
        at: { file },
        hint: 'Write `export const render = (data, context) => …`.',
      },
    );
  const { argument, request } = stage;
  const context = {
    ...contextOf(stage),
    argline: argument,
    tmplpath: request.file,
  } as unknown as SlsContext;
  try {
    return fromJs(await slsStorage.run(context, () => bounded(() => main(toJs(input), context))));
  } catch (error) {
    throw thrown(error, file, text, map);
  }
};
