import type { Request } from '../../config/request.ts';
import type { Shared } from '../facts/shared.ts';

/** Returns what a request and its configuration say about connections. */
export const transportOptions = ({ config, env, options, ask }: Request, emit: Shared['emit']) => ({
  hostKeys: options.ignoreHostKeys
    ? ('ignore' as const)
    : options.acceptNewHostKeys
      ? ('accept-new' as const)
      : ('strict' as const),
  ...(config.known_hosts_file === undefined ? {} : { knownHostsFiles: [config.known_hosts_file] }),
  ...(options.noSshConfig
    ? { sshConfig: false as const }
    : config.ssh_config_file === undefined
      ? {}
      : { sshConfig: config.ssh_config_file }),
  ask,
  env,
  log: (message: string) => emit({ type: 'log', level: 'debug', module: 'transport', message }),
});
