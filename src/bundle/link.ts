import { join, relative, resolve, sep } from 'node:path';
import { firstLineLength, headOf, withBlocks } from '../protocol/artifact-head.ts';
import type { ControlFunction } from '../protocol/manifest.ts';
import type { ModuleMeta } from '../protocol/meta.ts';
import { intoBlocks } from './blocks.ts';
import { type Built, type Bundle, bundleAll } from './bundle-all.ts';
import { discoverBuiltins } from './discover.ts';
import {
  baseKey,
  baseText,
  type EntryModule,
  entryPrefix,
  linkEnd,
  linkedText,
  linkHead,
} from './entry.ts';
import { inputMetadata } from './inputs.ts';
import { withLateNamespaces } from './late-namespaces.ts';
import { filesIn } from './locate.ts';
import { type LinkBase, type PrebuiltBase, prebuiltBase } from './prebuilt.ts';
import { apiFile, apiNames, type Bundled, runEsbuild } from './run-esbuild.ts';
import { blocksAt, tracedBlocks, tracedText } from './trace.ts';

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
  const lines = before.split('\n').length - 1;
  const { text, trace } = tracedText(bundle, lines + (base.blocks === '' ? 0 : 1));
  const whole = withBlocks(before + text + linkEnd, base.blocks);
  return {
    text: whole,
    trace: base.trace + trace + blocksAt(base.blocksTrace, headOf(whole)?.lines ?? 0),
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
  if (builtins.some(({ described }) => described.meta.broken !== undefined)) return undefined;
  const { entry, texts } = baseText(builtins, runtime, apiFile(root));
  const own = new Set([...builtins.flatMap(({ files }) => files), ...filesOfBlocks(root)]);
  const made = await runEsbuild(root, entry, { own, texts, shortNames: true });
  if (!made.ok) return undefined;
  return {
    ...(await inBlocks(root, made)),
    modules: builtins.map(({ described: { meta } }) => baseKey(meta)),
    api: await apiNames(root),
    inputs: made.inputs.map(inputMetadata),
    absent: made.absent,
  };
};

type BaseTexts = Pick<LinkBase, 'text' | 'trace' | 'blocks' | 'blocksTrace'>;

/** Cuts a bundle into a head and blocks. */
const inBlocks = async (root: string, made: Bundled): Promise<BaseTexts> => {
  const { head, text: late } = withLateNamespaces(made.text);
  const lines = head.split('\n').length - 1;
  const cut = await intoBlocks(late, made.map, source => {
    const [, folder] = source.split(entryPrefix);
    return blockOf(
      folder === undefined ? relative(modulesOf(root), resolve(root, source)) : folder,
    );
  });
  if (!cut) {
    const { text, trace } = tracedText({ text: late, map: made.map }, lines);
    return { text: head + text, trace, blocks: '', blocksTrace: '' };
  }
  const [trace, blocksTrace] = tracedBlocks(made.map, cut.moved, lines + 1);
  return { text: head + cut.head, trace, blocks: cut.blocks, blocksTrace };
};

/** Folders of modules that most runs need: these are read at once. */
const common = new Set(['_shared', 'file', 'grains', 'salt']);

const modulesOf = (root: string): string => join(root, 'src', 'modules');

/** Returns the block of a path within the folder of the built-in modules; undefined outside of it. */
const blockOf = (path: string): string | undefined => {
  const [name = '', ...rest] = path.split(sep);
  return rest.length > 0 && name !== '..' && !common.has(name) ? name : undefined;
};

/** All sources that belong to a block: also what its modules share has scopes of its own. */
const filesOfBlocks = (root: string): string[] => {
  const folder = modulesOf(root);
  return filesIn(folder).filter(
    path => path.endsWith('.ts') && blockOf(relative(folder, path)) !== undefined,
  );
};

/** Returns what other artifacts need to know of the base of an artifact without modules of a user. */
export const baseIn = async (
  root: string,
  text: string,
  modules: readonly ModuleMeta[],
): Promise<PrebuiltBase> => ({
  from: headOf(text) ? firstLineLength : 0,
  size: text.indexOf(linkHead),
  modules: modules.map(baseKey),
  api: await apiNames(root),
});
