import type { Config } from '../config/config.ts';
import { type ConfigRequest, loadConfig } from '../config/load.ts';
import { openSdb, resolveConfig } from '../request/open-sdb.ts';
import { asUsage } from '../request/usage.ts';
import type { Sdb } from '../sdb/sdb.ts';

/** A configuration that was read, and the stores behind its `sdb://` addresses. */
export type Project = { readonly config: Config; readonly sdb: Sdb };

/**
 * Reads the configuration.
 *
 * @throws TsaltError `config-…`, `yaml-…`, `sdb-…`; each is a fault of usage
 */
export const openProject = async (request: ConfigRequest): Promise<Project> => {
  const written = await asUsage(() => loadConfig(request));
  const sdb = openSdb(written, request.env);
  return { config: await resolveConfig(written, sdb), sdb };
};
