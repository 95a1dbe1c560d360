import type { ModuleContext } from '../modules/api.ts';
import type { Registry } from './registry-types.ts';

/**
 * The context of module code that runs outside of any call: timers, work during loading, a
 * watchdog.
 *
 * @param dir - The workspace.
 */
export const idleContext = (
  { salt, states, utils, provider }: Registry,
  dir: string,
  given: Pick<ModuleContext, 'log'> & { readonly test: boolean },
): ModuleContext => ({
  salt,
  states,
  utils,
  provider,
  grains: {},
  pillar: {},
  opts: { id: '', test: given.test, saltenv: 'base', cachedir: dir },
  context: {},
  env: 'base',
  log: given.log,
});
