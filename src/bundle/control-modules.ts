import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Script } from 'node:vm';
import type { ModuleKind } from '../protocol/meta.ts';
import { type ArtifactOptions, cached } from './artifact.ts';
import { discoverUser } from './discover.ts';
import { kindsOf } from './entry.ts';
import { sourceRoot } from './source-root.ts';

/** A user's module that runs on the control node: a renderer, an outputter, a matcher … */
export type ControlModule = {
  readonly kind: ModuleKind;
  readonly name: string;
  readonly path: string;
  /** Evaluates the module on the first call. Throws the module's errors. */
  readonly load: () => Readonly<Record<string, unknown>>;
  /** Why it cannot be used; do not call `load` then. */
  readonly broken?: string;
};

/**
 * Loads the modules in `_renderers`, `_pillar`, `_outputters`, `_matchers` and `_returners` of the
 * file roots. If there are none, this costs a few directory reads; otherwise they are bundled and
 * cached like artifacts.
 */
export const loadControlModules = async (options: ArtifactOptions): Promise<ControlModule[]> => {
  const { modules, folders } = discoverUser(options.fileRoots, options.extraDirs, options.zips);
  const found = modules.filter(({ kind }) => kindsOf.control.has(kind));
  if (found.length === 0) return [];
  const all = { modules: found, folders };
  const bundle = await cached(sourceRoot(), options, () => all, 'control');
  const thunks = evaluate(await readFile(bundle.path, 'latin1'), bundle.path);
  return bundle.modules.map(({ kind, file, path, broken }) => {
    const thunk = thunks[`${kind} ${file}`];
    const reason = broken ?? (thunk ? undefined : 'it was left out of the bundle');
    return {
      kind,
      name: file,
      path,
      load: () => thunk?.() ?? {},
      ...(reason === undefined ? {} : { broken: reason }),
    };
  });
};

type Thunks = Readonly<Record<string, () => Readonly<Record<string, unknown>>>>;

const evaluate = (text: string, filename: string): Thunks => {
  const script = new Script(`(function (module, exports, require) {${text}\n})`, { filename });
  const module = { exports: {} as Thunks };
  script.runInThisContext()(module, module.exports, createRequire(filename));
  return module.exports;
};
