import { join } from 'node:path';
import type { ControlFunction } from '../protocol/manifest.ts';
import type { ModuleMeta } from '../protocol/meta.ts';
import { type Built, type Bundle, bundleAll } from './bundle-all.ts';
import { discoverBuiltins } from './discover.ts';
import { baseKey, baseText, type EntryModule, linkEnd, linkedText, linkHead } from './entry.ts';
import { inputMetadata } from './inputs.ts';
import { withLateNamespaces } from './late-namespaces.ts';
import { type LinkBase, type PrebuiltBase, prebuiltBase } from './prebuilt.ts';
import { apiFile, apiNames, runEsbuild } from './run-esbuild.ts';
import { tracedText } from './trace.ts';

/*
 * An artifact is a base, which has the runtime and all built-in modules, and behind it the modules
 * of the user. `npm run build` makes the base: after a change of a module, a run bundles the few files
 * of the user and not hundreds.
 */

type LinkRequest = {
  readonly root: string;
  readonly modules: readonly EntryModule[];
  readonly control: readonly ControlFunction[];
  /** The file whose `start` is called. */
  readonly runtime: string;
  /** Names the sources of a bundle by their archives. */
  readonly rename: (bundle: Bundle) => Bundle;
};

/**
 * Bundles the user's modules and links them to the base. Returns undefined if that is not possible:
 * a module imports a source of tsalt-ssh itself, which would then be there twice, or a user's module
 * hides a built-in one and the base must be built.
 */
export const linked = async ({
  root,
  modules,
  control,
  runtime,
  rename,
}: LinkRequest): Promise<Built | undefined> => {
  const builtins = modules.filter(({ described }) => described.meta.builtin);
  const base = baseFor(builtins, prebuiltBase(root)) ?? (await buildBase(root, builtins, runtime));
  if (!base) return undefined;
  const entry = (all: readonly EntryModule[]): string => linkedText(all, base.modules, control);
  const bundle = rename(await bundleAll({ root, modules, entry, api: base.api }));
  const shipped = join(root, 'src', '/');
  if (bundle.inputs.some(path => path.startsWith(shipped))) return undefined;
  const before = base.text + linkHead;
  const { text, trace } = tracedText(bundle, before.split('\n').length - 1);
  return {
    text: before + text + linkEnd,
    trace: base.trace + trace,
    inputs: bundle.inputs,
    known: base.inputs,
    absent: [...base.absent, ...bundle.absent],
    modules: bundle.modules,
  };
};

const baseFor = (
  builtins: readonly EntryModule[],
  base: LinkBase | undefined,
): LinkBase | undefined => {
  const names = new Set(base?.modules);
  return builtins.every(({ described: { meta } }) => names.has(baseKey(meta))) ? base : undefined;
};

/** Bundles the base. Returns undefined if a built-in module is hidden or cannot be bundled. */
const buildBase = async (
  root: string,
  builtins: readonly EntryModule[],
  runtime: string,
): Promise<LinkBase | undefined> => {
  if (builtins.length < discoverBuiltins(root).modules.length) return undefined;
  const own = new Set(builtins.flatMap(({ files }) => files));
  const made = await runEsbuild(root, baseText(builtins, runtime, apiFile(root)), {
    own,
    shortNames: true,
  });
  if (!made.ok) return undefined;
  const { head, text: late } = withLateNamespaces(made.text);
  const { text, trace } = tracedText({ text: late, map: made.map }, head.split('\n').length - 1);
  return {
    text: head + text,
    trace,
    modules: builtins.map(({ described: { meta } }) => baseKey(meta)),
    api: await apiNames(root),
    inputs: made.inputs.map(inputMetadata),
    absent: made.absent,
  };
};

/** Returns what other artifacts need to know of the base of an artifact without modules of a user. */
export const baseIn = async (
  root: string,
  text: string,
  modules: readonly ModuleMeta[],
): Promise<PrebuiltBase> => ({
  size: text.indexOf(linkHead),
  modules: modules.map(baseKey),
  api: await apiNames(root),
});
