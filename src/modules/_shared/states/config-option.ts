import { __context__, __salt__, type Plain } from '../../api.ts';
import { hasFunction } from './call.ts';

const kept = '__config_options__';

/** An option of the configuration or the pillar, asked of the control node once a run. */
export const configOption = (name: string): Promise<Plain> => {
  __context__[kept] ??= new Map();
  const known = __context__[kept] as Map<string, Promise<Plain>>;
  const asked = known.get(name) ?? ask(name);
  known.set(name, asked);
  return asked;
};

const ask = async (name: string): Promise<Plain> =>
  hasFunction('config.option') ? await __salt__['config.option'](name, null) : null;

/** Returns an option as a string; undefined when it is not set or empty. */
export const configText = async (name: string): Promise<string | undefined> => {
  const value = await configOption(name);
  return value === null || value === '' || value === undefined ? undefined : String(value);
};
