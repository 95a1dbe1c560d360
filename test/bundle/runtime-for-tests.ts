import { type ModuleContext, withContext } from '../../src/modules/api.ts';
import type { Manifest } from '../../src/protocol/manifest.ts';
import { createRegistry } from '../../src/runtime/registry.ts';

declare const TS: { opened: unknown };

export const start = ({ manifest }: { manifest: Manifest }): void => {
  const evaluated: string[] = [];
  const watched = manifest.modules.map(module => {
    const { load } = module;
    if (!load) return module;
    return {
      ...module,
      load: () => {
        evaluated.push(module.name);
        return load();
      },
    };
  });
  const registry = createRegistry({ ...manifest, modules: watched });
  const base: ModuleContext = {
    salt: registry.salt,
    states: registry.states,
    utils: registry.utils,
    grains: { os: 'Debian' },
    pillar: {},
    opts: { id: 'web1', test: false, saltenv: 'base' },
    context: {},
    env: 'base',
    log: () => undefined,
  };
  TS.opened = {
    registry,
    evaluated,
    run: <T>(context: Partial<ModuleContext>, work: () => T): T =>
      withContext({ ...base, ...context }, work),
  };
};
