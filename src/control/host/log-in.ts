import type { Request } from '../../config/request.ts';
import type { Phase } from '../../protocol/event.ts';
import type { Host } from '../../protocol/host.ts';
import type { Connection, ConnectOptions, Transport } from '../../transport/transport.ts';
import type { Shared } from '../facts/shared.ts';
import { type HostRun, phase } from './host-run.ts';

/** Logs in with the roster's key or password; `--key-deploy` installs the key first. */
export const logIn = (run: HostRun): Promise<Connection> =>
  logInTo({
    ...run,
    request: run.shared.request,
    emit: run.shared.emit,
    connect: { signal: run.signal, onPhase: (name: Phase) => phase(run, name) },
  });

export type Login = {
  readonly request: Pick<Request, 'options' | 'ask' | 'env'>;
  readonly transport: Transport;
  readonly host: Host;
  readonly signal: AbortSignal;
  readonly emit: Shared['emit'];
  readonly connect: ConnectOptions;
};

/** Logs in to a host as a run does, `ssh_pre_hook` and `--key-deploy` included. */
export const logInTo = async (login: Login): Promise<Connection> => {
  const { request, transport, host, signal, emit, connect } = login;
  const { options, ask, env } = request;
  if (host.ssh_pre_hook) await (await import('./pre-hook.ts')).runPreHook(host, signal);
  if (!options.keyDeploy) return await transport.connect(host, connect);
  const { connectDeployingKey } = await import('../../transport/key-deploy.ts');
  const log = (message: string): void =>
    emit({ type: 'log', host: host.id, level: 'warning', module: 'key-deploy', message });
  return await connectDeployingKey({ transport, host, ask, env, connect, log });
};
