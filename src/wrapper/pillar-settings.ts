import type { Data, Dict } from '../data/values/value.ts';
import { isDict } from '../data/values/value.ts';
import type { PillarSettings } from './context.ts';

/**
 * Reads the pillar settings in a call's arguments. With `pillarenv_from_saltenv` the pillar uses
 * the environment of the states, unless the call names one. (salt.utils.state.get_sls_opts)
 */
export const pillarSettingsOf = (call: Dict, options: Dict): PillarSettings => {
  const override = call.get('pillar');
  const saltenv = textOf(call.get('saltenv')) ?? textOf(options.get('saltenv'));
  const follows = options.get('pillarenv_from_saltenv') === true;
  const pillarenv = textOf(call.get('pillarenv')) ?? (follows ? saltenv : undefined);
  const named = textOf(call.get('saltenv'));
  return {
    ...(isDict(override) ? { override } : {}),
    ...(pillarenv === undefined ? {} : { pillarenv }),
    ...(named === undefined ? {} : { saltenv: named }),
  };
};

const textOf = (value: Data | undefined): string | undefined =>
  value === undefined || value === null || value === '' ? undefined : String(value);
