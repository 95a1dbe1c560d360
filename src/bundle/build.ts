import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { ModuleMeta } from '../protocol/meta.ts';
import type { ArtifactOptions } from './artifact.ts';
import { autoStates } from './auto-state.ts';
import { type Built, type Bundle, bundleAll } from './bundle-all.ts';
import { pathsOf } from './cache/cache-paths.ts';
import { describeAll } from './describe-all.ts';
import type { FoundModule } from './discover.ts';
import { controlEntryText, type EntryModule, entryText, type Goal, kindsOf } from './entry.ts';
import { inputMetadata, sha256 } from './inputs.ts';
import { linked } from './link.ts';
import { packMeta } from './meta-file.ts';
import { type PrebuiltArtifact, prebuiltDescriptions } from './prebuilt.ts';
import { writePrivate } from './private-dir.ts';
import { tracedText } from './trace.ts';
import { inArchives, openZip } from './zip.ts';

/** The input and the output of a build. */
export type BuildRequest = {
  readonly root: string;
  readonly dir: string;
  /** Identifies the project: its roots and the goal. */
  readonly key: string;
  readonly found: readonly FoundModule[];
  readonly options: ArtifactOptions;
  readonly goal: Goal;
};

/** Describes and bundles all modules: the slow way, taken if something changed. */
export const build = async ({
  root,
  dir,
  key,
  found,
  options,
  goal,
}: BuildRequest): Promise<PrebuiltArtifact> => {
  const opened = found.map(module => openZip(module, join(dir, 'zip')));
  const { described, files: read } = await describeAll(
    opened,
    join(dir, `describe-${goal}.json`),
    () => prebuiltDescriptions(root),
  );
  const all = [...described, ...autoStates(described)];
  const wanted = all.filter(({ described: { meta } }) => kindsOf[goal].has(meta.kind));
  const control = options.controlFunctions ?? [];
  const main = join(root, 'src', 'runtime', goal === 'grains' ? 'grains-main.ts' : 'main.ts');
  const runtime = options.runtime ?? main;
  const named = inArchives(opened);
  const rename = (bundle: Bundle): Bundle => ({
    ...bundle,
    map: withSources(root, bundle.map, named),
  });
  const whole = async (): Promise<Built> => {
    const entry = (modules: readonly EntryModule[]): string =>
      goal === 'control' ? controlEntryText(modules) : entryText(modules, control, runtime);
    const bundle = rename(await bundleAll({ root, modules: wanted, entry }));
    return { ...bundle, ...tracedText(bundle), known: [] };
  };
  const bundled =
    (goal === 'host' && runtime === main
      ? await linked({ root, modules: wanted, control, runtime, rename })
      : undefined) ?? (await whole());
  const { text } = bundled;
  const sha = sha256(text);
  const broken = new Map(
    bundled.modules.flatMap(({ files: [file], described: { meta } }) =>
      file === undefined || meta.broken === undefined ? [] : [[file, named(meta.broken)]],
    ),
  );
  const metas = all.map(({ files: [file = ''], described: { meta } }): ModuleMeta => {
    const after = broken.get(file);
    return after === undefined ? meta : { ...meta, functions: [], broken: after };
  });
  const { js, meta, map } = pathsOf(dir, key, { sha256: sha });
  await writePrivate(meta, packMeta(metas));
  await writePrivate(map, bundled.trace);
  await writePrivate(js, text);
  const files = new Set([
    ...bundled.inputs,
    ...read,
    ...found.flatMap(({ zip, files: own }) => (zip === undefined ? own : [zip])),
  ]);
  for (const { path } of bundled.known) files.delete(path);
  const others = [...files].filter(existsSync).map(inputMetadata);
  return {
    sha256: sha,
    size: Buffer.byteLength(text),
    inputs: [...bundled.known, ...others].sort((a, b) => (a.path < b.path ? -1 : 1)),
    absent: bundled.absent,
  };
};

/** Returns a source map with other names of its sources. */
const withSources = (root: string, map: string, named: (path: string) => string): string => {
  const parsed = JSON.parse(map) as { sources: string[] };
  const sources = parsed.sources.map(source => {
    const path = resolve(root, decodeURIComponent(source));
    const name = named(path);
    return name === path ? source : encodeURI(name);
  });
  return JSON.stringify({ ...parsed, sources });
};
