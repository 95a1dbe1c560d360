import { loadConfig } from '../config/load.ts';
import type { Opened } from './commands.ts';
import { openSdb, resolveConfig } from './open-sdb.ts';
import type { Given } from './parse.ts';
import { asUsage } from './usage.ts';

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
