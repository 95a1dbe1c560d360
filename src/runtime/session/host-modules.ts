import { getContext, type ModuleContext, withContext } from '../../modules/api.ts';
import { TsaltError } from '../../protocol/error.ts';
import type { HostOpts, RunParams } from '../../protocol/job.ts';
import { isPlainDict, type Plain, type PlainDict } from '../../protocol/plain.ts';
import { LaterGrains } from './later-grains.ts';
import type { SessionHost } from './session-host.ts';

/** The modules of this host: their functions, and the context in which their code runs. */
export class HostModules {
  readonly #host: SessionHost;
  #grains: Promise<PlainDict> | undefined;
  #names: ReadonlySet<string> | undefined;

  constructor(host: SessionHost) {
    this.#host = host;
  }

  /** Returns the grains of this host, which are collected when something first needs them. */
  grains(): Promise<PlainDict> {
    this.#grains ??= this.#host.collectGrains();
    return this.#grains;
  }

  /** Collects the grains again, for contexts that are made from now on. */
  refreshGrains(): Promise<PlainDict> {
    this.#grains = this.#host.collectGrains();
    return this.#grains;
  }

  /** Makes the context of module code in one call or run. */
  async context(opts: HostOpts, pillar: PlainDict): Promise<ModuleContext> {
    return this.#contextWith(await this.grains(), opts, pillar);
  }

  /**
   * Makes the context of a run whose states read no grains by themselves: unless they are known,
   * they are collected when something else needs them.
   */
  async contextOfRun({
    opts,
    pillar = {},
    needsNoGrains,
  }: RunParams): Promise<{ readonly context: ModuleContext; readonly later?: LaterGrains }> {
    if (!needsNoGrains || this.#grains !== undefined)
      return { context: await this.context(opts, pillar) };
    const context = this.#contextWith({}, opts, pillar);
    const later = new LaterGrains(context.grains, async () =>
      // Not in the context of the state that needs them.
      withUserGrains(await withContext(context, () => this.grains()), opts),
    );
    const { collect: collectGrains, grains } = later;
    return { context: { ...context, grains, collectGrains }, later };
  }

  /** Makes the context of a function that reads no grains. */
  contextWithoutGrains(opts: HostOpts, pillar: PlainDict): ModuleContext {
    return this.#contextWith({}, opts, pillar);
  }

  #contextWith(grains: PlainDict, opts: HostOpts, pillar: PlainDict): ModuleContext {
    const { registry, dir, emit, request } = this.#host;
    return {
      salt: registry.salt,
      states: registry.states,
      utils: registry.utils,
      grains: withUserGrains(grains, opts),
      pillar,
      opts: { cachedir: dir, ...opts },
      context: {},
      env: opts.saltenv,
      log: emit.log,
      event: emit.event,
      provider: registry.provider,
      control: { request },
    };
  }

  /** Calls an execution function. @throws TsaltError `no-function` */
  execute = async (fun: string, args: readonly Plain[], kwargs: PlainDict): Promise<unknown> => {
    await getContext().collectGrains?.();
    const resolved = await this.#host.registry.resolve('exec', fun);
    if (!resolved.ok) {
      const { reason, cause } = resolved;
      throw new TsaltError('no-function', reason, { kind: 'host', cause });
    }
    return resolved.call(args, kwargs);
  };

  /** Whether there is an execution function of this name. */
  knows = (fun: string): boolean => {
    this.#names ??= new Set(this.#host.registry.names('exec'));
    return this.#names.has(fun);
  };
}

/** Adds the grains from roster and configuration, which override the collected ones. */
export const withUserGrains = (grains: PlainDict, { id, grains: given }: HostOpts): PlainDict => ({
  ...grains,
  id,
  ...(isPlainDict(given) ? given : {}),
});
