import type { Config } from '../../src/config/config.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { Request } from '../../src/config/request.ts';
import type { Host } from '../../src/protocol/host.ts';
import { openSdb } from '../../src/request/open-sdb.ts';

/** The request of a check of a project's hosts. */
export const checkRequest = (file: string, hosts: readonly Host[] = []): Request => {
  const config: Config = loadConfig({ path: file, cwd: '/', env: process.env });
  return {
    target: '*',
    targetType: 'glob',
    delimiter: ':',
    fun: 'state.apply',
    args: [],
    kwargs: new Map(),
    config,
    sdb: openSdb(config, {}),
    env: process.env,
    hosts,
    prepareHost: async host => host,
    ask: async () => {
      throw new Error('nothing to ask');
    },
    options: {
      maxProcs: 1,
      failhard: false,
      strict: false,
      dryRun: false,
      static: true,
      wipe: false,
      randomThinDir: false,
      regen: false,
      preFlight: false,
      keyDeploy: false,
      noSshConfig: true,
      acceptNewHostKeys: false,
      ignoreHostKeys: true,
      jid: '20260101000000000000',
    },
  };
};
