import { setContext } from '../modules/api.ts';
import type { ArtifactStart } from '../protocol/artifact-head.ts';
import type { Manifest } from '../protocol/manifest.ts';
import { collectGrains } from './collect-grains.ts';
import { idleContext } from './idle-context.ts';
import { startsWithoutGrains } from './lazy-start.ts';
import { createRegistry, type FullRegistry } from './registry.ts';
import { serve } from './serve/serve.ts';
import { workspaceHolder } from './workspaces.ts';

declare const TS: ArtifactStart;

/** The artifact's start: serves the control node with the modules of the manifest. */
export const start = ({ manifest }: { readonly manifest: Manifest }): void => {
  const registry = createRegistry(manifest);
  if (TS.guard !== undefined) {
    void startWatchdog(registry, TS.guard);
    return;
  }
  TS.isFree = () => workspaceHolder(TS.dir) === undefined;
  serve({
    registry,
    hasUserModules: manifest.modules.some(({ builtin }) => builtin !== true),
    collectGrains: log => collectGrains(registry, log),
    dir: TS.dir,
    suffix: TS.suffix ?? '',
    wipe: TS.wipe === true,
    isLazy: startsWithoutGrains(TS.kind),
    isCallSent: TS.kind === 'lazy',
    sha: TS.sha,
    ...(TS.pre === undefined ? {} : { preloaded: TS.pre }),
  });
};

/** Loaded only by guarded runs. */
const startWatchdog = async (registry: FullRegistry, folder: string): Promise<void> => {
  const { runWatchdog: watch } = await import('./rollback/watchdog.ts');
  const context = idleContext(registry, TS.dir, { test: false, log: () => undefined });
  setContext(context);
  setContext({ ...context, grains: await collectGrains(registry, () => undefined) });
  await watch(folder);
};
