import type { Phase } from '../../protocol/event.ts';
import { plainText } from '../../protocol/plain.ts';
import type { Link } from '../../transport/runtime-link.ts';
import type { Connection } from '../../transport/transport.ts';
import type { GuardLink } from './confirm-guard.ts';
import { type HostRun, phase } from './host-run.ts';
import type { HostWay } from './reach-again.ts';
import type { RestartLink } from './restart-host.ts';
import type { Site } from './site.ts';
import { connectRuntime } from './start-runtime.ts';

const bootFile = '/proc/sys/kernel/random/boot_id';

/** The connection to one host and the runtime at its end; a restart of the host makes both anew. */
export class HostLink {
  readonly #run: HostRun;
  #connection: Connection | undefined;
  #link: Link | undefined;

  constructor(run: HostRun) {
    this.#run = run;
  }

  /** By key, password or whatever the roster has; `--key-deploy` brings the key there first. */
  async logIn(): Promise<Connection> {
    this.#connection = await logIn(this.#run);
    return this.#connection;
  }

  /** The runtime answers. */
  use(link: Link): void {
    this.#link = link;
  }

  /** Has the runtime ever answered? */
  get wasUsed(): boolean {
    return this.#link !== undefined;
  }

  close(): void {
    this.#link?.close();
    this.#connection?.close();
  }

  get #way(): HostWay {
    const { host, signal } = this.#run;
    return {
      id: host.id,
      signal,
      ended: () => this.#link?.ended ?? Promise.resolve(),
      close: () => this.close(),
    };
  }

  /** What the end of a guarded run works with. */
  forGuard(site: Site): GuardLink {
    return {
      ...this.#way,
      reopen: async () => (await this.#reopen(site, 'the guard asks for a new login')).peer,
    };
  }

  /** What the restart of the host works with. */
  forRestart(site: Site): RestartLink {
    return {
      ...this.#way,
      call: (fun, args, kwargs) => site.calls.callHost(fun, args, kwargs),
      reopen: async () => {
        const link = await this.#reopen(site, 'the host restarts');
        const bootId = await site.calls.callHost('file.read', [bootFile], {}, { early: link.peer });
        site.greet(link.hello.grains, link.peer);
        return plainText(bootId.value).trim();
      },
    };
  }

  async #reopen(site: Site, why: string): Promise<Link> {
    phase(this.#run, 'connect', why);
    const link = await connectRuntime(this.#run, await this.logIn(), {
      handlers: site.handlers,
      site: () => site,
      early: undefined,
      onSent: () => undefined,
    });
    this.use(link);
    return link;
  }
}

const logIn = async (run: HostRun): Promise<Connection> => {
  const { shared, transport, host, signal } = run;
  const { options, ask } = shared.request;
  const connect = { signal, onPhase: (name: Phase) => phase(run, name) };
  if (host.ssh_pre_hook) await (await import('../fleet/pre-hook.ts')).runPreHook(host, signal);
  if (!options.keyDeploy) return await transport.connect(host, connect);
  const { connectDeployingKey } = await import('../../transport/key-deploy.ts');
  const log = (message: string): void =>
    shared.emit({ type: 'log', host: host.id, level: 'warning', module: 'key-deploy', message });
  return await connectDeployingKey({ transport, host, ask, env: process.env, connect, log });
};
