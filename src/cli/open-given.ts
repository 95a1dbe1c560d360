import { loadConfig } from '../config/load.ts';
import type { Given } from '../request/given.ts';
import { openSdb, resolveConfig } from '../request/open-sdb.ts';
import { asUsage } from '../request/usage.ts';
import type { Opened } from './commands.ts';

/**
 * Reads the configuration of a command line.
 *
 * @throws TsaltError `config-…`, `yaml-…`
 */
export const openGiven = async (given: Given, env: Opened['env']): Promise<Opened> => {
  const { config: named } = given.options;
  const path = typeof named === 'string' ? { path: named } : {};
  const written = await asUsage(() => loadConfig({ cwd: process.cwd(), env, ...path }));
  const sdb = openSdb(written, env);
  return { given, config: await resolveConfig(written, sdb), env, sdb };
};
