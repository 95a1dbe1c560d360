import type { Data } from '../data/values/value.ts';
import type { Config } from './config.ts';

/** Salt's options that are accepted without effect, and their alternatives. */
const instead: Readonly<Record<string, string>> = {
  fileserver_backend: 'files come from file_roots alone',
  liquid_env: 'Liquid has no options',
  master_tops: 'only the top file assigns states to hosts',
  pillar_cache: 'the pillar is compiled in each run',
  render_dirs: 'renderers go into _renderers of a file root',
  roster_order: "the rosters 'cloud' and 'cache' are not supported",
  ssh_grains: "use grains in the roster or the option 'grains'",
  ssh_use_home_key: 'keys of ~/.ssh are tried anyway, or name one by ssh_priv',
  state_events: '--out=ndjson reports every state',
  top_file: 'the option is state_top',
};

/** Returns warnings about configured options that have no effect. */
export const optionsWithoutEffect = ({ options }: Config): string[] =>
  Object.entries(instead)
    .filter(([name]) => wantsSomething(name, options.get(name)))
    .map(([name, why]) => `The option '${name}' has no effect: ${why}.`);

const wantsSomething = (name: string, value: Data | undefined): boolean => {
  if (value === undefined || value === null || value === false || value === '') return false;
  if (name === 'fileserver_backend')
    return [value].flat().some(one => !files.includes(String(one)));
  return !(Array.isArray(value) && value.length === 0) && !(value instanceof Map && !value.size);
};

const files = ['roots', 'file_roots'];
