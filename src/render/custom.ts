import { posix } from 'node:path';
import type { Data } from '../data/values/value.ts';
import type { FileRoots } from '../fileserver/file-roots.ts';
import { TsaltError } from '../protocol/error.ts';
import { pack } from './confined/wire.ts';
import { runUserProgram } from './ts/run-program.ts';
import type { Renderer, RendererTable, Stage } from './types.ts';

const source = /^_renderers\/([A-Za-z_]\w*)\.(?:ts|mts|js|mjs)$/;

/**
 * The user's renderers: `_renderers/NAME.ts` in the file roots, by name. Each exports `render(data,
 * context)`, which receives the result of the stage before and the variables of templates (also
 * `argline`, `tmplpath`, `env`), and returns text or data or a promise. An optional export `kind`
 * declares its kind (`text`, `data`, `filter`), so that pipes can be checked. A file is loaded when
 * a pipe first runs it.
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

const run = (file: string, text: string, input: Data, stage: Stage): Promise<Data> => {
  const missing = `The renderer ${posix.basename(file)} exports no function \`render\`.`;
  return runUserProgram(text, file, stage, {
    names: ['render', 'default'],
    mayBeData: false,
    missing,
    input: pack(input),
    more: {
      argline: stage.argument,
      tmplpath: stage.request.file,
      env: stage.request.saltenv,
    },
    noExport: new TsaltError('renderer-no-render', missing, {
      kind: 'render',
      at: { file },
      hint: 'Write `export const render = (data, context) => …`.',
    }),
  });
};
