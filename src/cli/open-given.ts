import { openProject } from '../library/open-project.ts';
import type { Given } from '../request/given.ts';
import type { Opened } from './commands.ts';

/**
 * Reads the configuration of a command line.
 *
 * @throws TsaltError `config-…`, `yaml-…`
 */
export const openGiven = async (given: Given, env: Opened['env']): Promise<Opened> => {
  const { config } = given.options;
  const path = typeof config === 'string' ? { path: config } : {};
  return { given, env, ...(await openProject({ cwd: process.cwd(), env, ...path })) };
};
