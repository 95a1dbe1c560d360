import type { Phase } from '../../protocol/event.ts';
import type { Connection } from '../../transport/transport.ts';
import { type HostRun, phase } from './host-run.ts';

/** Logs in by key, password or whatever the roster has; `--key-deploy` brings the key there first. */
export const logIn = async (run: HostRun): Promise<Connection> => {
  const { shared, transport, host, signal } = run;
  const { options, ask, env } = shared.request;
  const connect = { signal, onPhase: (name: Phase) => phase(run, name) };
  if (host.ssh_pre_hook) await (await import('./pre-hook.ts')).runPreHook(host, signal);
  if (!options.keyDeploy) return await transport.connect(host, connect);
  const { connectDeployingKey } = await import('../../transport/key-deploy.ts');
  const log = (message: string): void =>
    shared.emit({ type: 'log', host: host.id, level: 'warning', module: 'key-deploy', message });
  return await connectDeployingKey({ transport, host, ask, env, connect, log });
};
