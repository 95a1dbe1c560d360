import { TsaltError } from '../protocol/error.ts';
import type { EntryModule } from './entry.ts';
import type { InputMetadata } from './inputs.ts';
import { type Bundled, runEsbuild } from './run-esbuild.ts';

/** A bundle, and the modules in it: broken ones are left out of its text. */
export type Bundle = Bundled & { readonly modules: readonly EntryModule[] };

/** A bundle without the folders of this machine, and what is kept of it. */
export type Built = Omit<Bundle, 'map'> & {
  /** The text of the file that maps positions. */
  readonly trace: string;
  /** Inputs whose content was read already. */
  readonly known: readonly InputMetadata[];
};

type Wanted = {
  readonly root: string;
  readonly modules: readonly EntryModule[];
  /** Returns the code that starts the bundle. */
  readonly entry: (modules: readonly EntryModule[]) => string;
  /**
   * The exports of `tsalt-ssh/module` in the base that this will be linked to. The built-in modules
   * are in that base too.
   */
  readonly api?: readonly string[];
};

/**
 * Bundles everything at once. If that fails, finds the broken modules one by one and leaves them
 * out.
 *
 * @throws `TsaltError('bundle')` if it fails without any of the broken ones too
 */
export const bundleAll = async ({ root, modules, entry, api }: Wanted): Promise<Bundle> => {
  const absent: string[] = [];
  const user = modules.filter(({ described }) => !described.meta.builtin);
  const own = new Set((api ? user : modules).flatMap(({ files }) => files));
  // Users' code, or a package of theirs, may show the names of its classes.
  const bundling = { own, shortNames: user.length === 0, api };
  const first = await runEsbuild(root, entry(modules), bundling);
  if (first.ok && (await importsWhatExists(root, user, api))) return { ...first, modules };
  const reasons = new Map<string, string>();
  const probe = async (group: readonly EntryModule[]): Promise<void> => {
    for (const module of group) {
      const file = module.files[0];
      if (file === undefined || module.described.meta.broken !== undefined) continue;
      const alone = await runEsbuild(root, importsOf(module.files), { api });
      if (alone.ok) continue;
      reasons.set(file, alone.reason);
      absent.push(...alone.absent);
    }
  };
  await probe(user);
  if (reasons.size === 0 && !api)
    await probe(modules.filter(({ described }) => described.meta.builtin));
  const rest = modules.map(module => leaveOut(module, reasons.get(module.files[0] ?? '')));
  const second = await runEsbuild(root, entry(rest), bundling);
  if (second.ok) return { ...second, absent: [...absent, ...second.absent], modules: rest };
  throw new TsaltError('bundle', `The runtime cannot be bundled: ${second.reason}`, {
    kind: 'internal',
  });
};

/**
 * Whether all imported names are exported by the other file: CommonJS does not report a missing
 * one.
 */
const importsWhatExists = async (
  root: string,
  modules: readonly EntryModule[],
  api: readonly string[] | undefined,
): Promise<boolean> => {
  const files = modules
    .filter(({ described }) => described.meta.broken === undefined)
    .flatMap(module => module.files);
  if (files.length === 0) return true;
  return (await runEsbuild(root, importsOf(files), { api })).ok;
};

/** Returns source text that imports these files, so that esbuild reports their errors. */
const importsOf = (files: readonly string[]): string =>
  files.map(path => `import ${JSON.stringify(path)};`).join('\n');

const leaveOut = (module: EntryModule, reason: string | undefined): EntryModule => {
  if (reason === undefined) return module;
  const { described } = module;
  const meta = { ...described.meta, functions: [], broken: reason };
  return { ...module, described: { ...described, meta } };
};
