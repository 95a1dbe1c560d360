import type { Request } from '../../config/request.ts';
import { TsaltError } from '../../protocol/error.ts';
import type { HostResult } from '../../protocol/event.ts';
import type { Handler } from '../../protocol/peer.ts';
import { plainText } from '../../protocol/plain.ts';
import type { Link } from '../../transport/runtime-link.ts';
import type { Connection } from '../../transport/transport.ts';
import { cancelled } from '../../transport/unreachable.ts';
import type { CallableHost, Shared } from '../facts/shared.ts';
import { type AskSource, SourceResults } from '../pillar/source-results.ts';
import { HostAttempt } from './attempt.ts';
import { type RollbackLink, runWithRollback } from './confirm-rollback.ts';
import { connectRuntime, servedOf, type Wiring } from './connect-runtime.ts';
import { type EarlyCall, earlyCall } from './early-call.ts';
import { failedRun } from './failed-run.ts';
import { HostGrains, mayNeedGrains } from './host-grains.ts';
import { type HostRun, phase } from './host-run.ts';
import { RuntimeSlot, type Served } from './kept-runtimes.ts';
import { logIn } from './log-in.ts';
import { OpenQuestions } from './open-questions.ts';
import { perform, performRaw } from './perform.ts';
import type { HostWay } from './reach-again.ts';
import { type RestartLink, restartHost } from './restart-host.ts';
import { commitUnread, type Speculated, type Speculation, speculate } from './speculation.ts';

const bootFile = '/proc/sys/kernel/random/boot_id';

/**
 * One host's run from login to close: its connection, its runtime, and the attempt that works for
 * the host. `run-host.ts` calls the stages in order. After a restart of the host, connection and
 * runtime are opened again.
 */
export class HostSession {
  readonly #run: HostRun;
  readonly #answers = new SourceResults();
  #attempt: HostAttempt;
  #connection: Connection | undefined;
  #link: Link | undefined;
  #slot: RuntimeSlot | undefined;
  /** The runtime is one of an earlier run of the session. */
  #isKept = false;
  /** The run has a result, so the session can reuse the runtime. */
  #isWell = false;
  #early: EarlyCall | undefined;
  readonly #grains: HostGrains;
  /** The start of the whole runtime, where the program that only collects grains ran before. */
  #complete: Promise<Link> | undefined;
  /** `ssh_pre_flight` must run before anything else does. */
  #isUnprepared = false;
  readonly #logged = new Set<string>();
  #speculation: Speculation | undefined;
  #speculated: Speculated | undefined;
  /** Answers calls from templates of other hosts. */
  #answering: CallableHost | undefined;
  readonly #questions = new OpenQuestions();
  /** The forbidden request of the host that ended the run. */
  #refused: TsaltError | undefined;
  #greet: () => void = () => undefined;
  readonly #greeted = new Promise<void>(resolve => {
    this.#greet = resolve;
  });

  constructor(run: HostRun) {
    this.#run = run;
    this.#grains = new HostGrains(run);
    this.#attempt = this.#newAttempt(run.shared, this.#answers.take);
  }

  /** Runs a function that needs only the sources, not the host. */
  async performHere(): Promise<HostResult> {
    await this.#learnModules(this.#attempt);
    return perform(this.#run, this.#attempt);
  }

  /** Takes the runtime that an earlier run of the session left; false where there is none. */
  async #takeKept(): Promise<boolean> {
    const { host, kept, shared } = this.#run;
    const slot = kept?.take(host.id, (await shared.artifact()).sha256);
    if (!slot) return false;
    this.#isKept = true;
    this.#connection = slot.connection;
    this.#link = slot.link;
    this.#serve(slot);
    return true;
  }

  /** Logs in, or takes the connection that an earlier run of the session left. */
  async open(): Promise<void> {
    if (!(await this.#takeKept())) await this.connect();
  }

  /** Logs in. */
  async connect(why?: string): Promise<Connection> {
    phase(this.#run, 'connect', why);
    this.#connection = await logIn(this.#run);
    return this.#connection;
  }

  /** Runs a command in the host's shell. A runtime that was asked for grains ends before. */
  async performRaw(raw: NonNullable<Request['raw']>): Promise<HostResult> {
    await this.#link?.finish();
    const result = await performRaw(this.#run, await this.#connected(), raw);
    this.#isWell = true;
    return result;
  }

  /**
   * Starts the runtime and waits for its hello. Meanwhile it renders and compiles a run of states
   * with the grains of the host's last run, or else loads the renderers.
   */
  async hello(): Promise<void> {
    // Before anything is sent: an early call may request its pillar at once.
    await this.#learnModules(this.#attempt);
    if (this.#isKept && this.#link) return this.#greetedBy(this.#link);
    const { isTarget, shared } = this.#run;
    this.#early = await earlyCall(this.#run, this.#attempt);
    this.#grains.readLast();
    const wiring: Wiring = {
      ...(isTarget ? { grainsProgram: await shared.grainsProgram() } : {}),
      ...(this.#early ? { early: this.#early } : {}),
      leavesGrains: this.#grains.mayBeLeft(this.#attempt),
      // Node would delay an unreferenced immediate until the host answers.
      onSent: () => void setImmediate(() => void this.#meanwhile().catch(() => undefined)),
    };
    const link = isTarget ? await this.#askFirst(wiring) : await this.#startRuntime(wiring);
    if (link.isGrainsOnly) return this.#greetedByGrains(link);
    const { grains } = link.hello;
    if (grains) this.#speculated = this.#speculation?.commit(grains, link.peer);
    else if (!this.#early)
      this.#speculated = await commitUnread(this.#speculate(), link, this.#grains.ask);
    this.#greetedBy(link);
  }

  /**
   * Starts the runtime of a host whose grains decide whether it is a target. `ssh_pre_flight` waits
   * for that, unless the host cannot be asked without it: it may install what Node needs.
   */
  async #askFirst(wiring: Wiring): Promise<Link> {
    if (this.#run.host.ssh_pre_flight === undefined) return this.#startRuntime(wiring);
    try {
      const link = await this.#startRuntime({ ...wiring, isPrepared: true });
      this.#isUnprepared = true;
      return link;
    } catch (error) {
      const { code } = error instanceof TsaltError ? error : { code: '' };
      if (!/^(?:node-|bootstrap-ended$)/.test(code) || this.#run.signal.aborted) throw error;
      return this.#startRuntime(wiring);
    }
  }

  /** Learns the grains. A pillar that calls functions of the host needs the whole runtime. */
  async #greetedByGrains({ hello }: Link): Promise<void> {
    this.#attempt.greet(hello.grains ?? {}, async () => (await this.#startWhole()).peer);
    this.#greet();
    if (hello.isPartial) await this.#startWhole();
  }

  /**
   * Sends the artifact and starts it, where only the program for grains ran so far, or where
   * `ssh_pre_flight` must run before.
   */
  async complete(): Promise<void> {
    if (!this.#isUnprepared) {
      if (this.#link?.isGrainsOnly) await this.#startWhole();
      return;
    }
    this.#isUnprepared = false;
    await this.#link?.finish();
    this.#greetedBy(await this.#startRuntime());
  }

  #startWhole(): Promise<Link> {
    this.#complete ??= (async () => {
      await this.#link?.finish();
      const link = await this.#startRuntime({ isPrepared: true });
      this.#greetedBy(link);
      return link;
    })();
    return this.#complete;
  }

  #greetedBy({ hello, peer }: Link): void {
    if (this.#speculated) this.#attempt = this.#speculated.attempt;
    else this.#attempt.greet(this.#grains.of(hello), peer);
    this.#greet();
    this.#answering ??= {
      call: (fun, args, isEarly) =>
        this.#questions.answer(async () => {
          await this.#allGrains();
          return this.#attempt.answer(fun, args, isEarly);
        }),
    };
    this.#run.shared.mine?.greeted(this.#run.host.id, this.#answering);
    this.#run.gate?.connected();
  }

  /** Asks for the grains of a host that began without them, before anything uses them. */
  #allGrains = (): Promise<void> => this.#grains.complete(this.#link, () => this.#attempt);

  /** Decides, now that the grains are known, whether the host is a target. */
  async isTarget(): Promise<boolean> {
    return this.#run.isTarget?.(this.#attempt) ?? true;
  }

  /** Runs the function, or awaits the speculative run that was committed. */
  async perform(): Promise<HostResult> {
    const { host, signal } = this.#run;
    const result = await (this.#speculated?.result ??
      perform(this.#run, this.#attempt, this.#early));
    if (signal.aborted) throw cancelled(host.id);
    this.#stopAnswering();
    await this.#questions.end(this.#run.shared.request.config.mine_timeout, signal);
    this.#isWell = true;
    return result;
  }

  /** Keeps the host's grains for the speculation of its next run. */
  async keepGrains(): Promise<void> {
    if (!this.#link || this.#isKept) return;
    await this.#grains.keep(this.#link, this.#attempt, !!this.#speculation && !this.#speculated);
  }

  /** The result of a run that an error ended. */
  failed(error: unknown): HostResult {
    const { host, signal } = this.#run;
    // After a cancel the host may still answer; that its processes ended is expected then.
    const wasCancelled = this.#link !== undefined && signal.aborted;
    const reason = this.#refused ?? (wasCancelled ? cancelled(host.id) : error);
    return failedRun(this.#run, this.#attempt, reason);
  }

  /** Ends the run of this host: nothing more is computed for it or sent to it. */
  close(): void {
    if (!this.#speculated) this.#speculation?.discard();
    this.#attempt.close();
    const { host, kept } = this.#run;
    this.#stopAnswering();
    if (kept && this.#slot && this.#isWell && !this.#refused) {
      this.#leave();
      kept.give(host.id, this.#slot);
    } else this.#disconnect();
  }

  /** Questions of other hosts' templates get a connection of their own. */
  #stopAnswering(): void {
    const { host, shared } = this.#run;
    if (this.#answering) shared.mine?.left(host.id, this.#answering);
  }

  #disconnect(): void {
    this.#leave();
    this.#link?.close();
    this.#connection?.close();
  }

  /** Serves this run with the runtime. Aborting the run ends the runtime. */
  #serve(slot: RuntimeSlot): RuntimeSlot & { served: Served } {
    this.#leave();
    this.#slot = slot;
    const { signal } = this.#run;
    signal.addEventListener('abort', this.#onAbort, { once: true });
    if (signal.aborted) this.#onAbort();
    const served = servedOf(this.#run, {
      attempt: () => this.#attempt,
      handlers: this.#handlers(),
    });
    return Object.assign(slot, { served });
  }

  #leave(): void {
    this.#run.signal.removeEventListener('abort', this.#onAbort);
  }

  #onAbort = (): void => this.#slot?.stop.abort();

  async #learnModules(attempt: HostAttempt): Promise<void> {
    const { artifact, ownModules } = this.#run.shared;
    attempt.learn(await artifact(), await ownModules());
  }

  /**
   * Works while the host starts. Failures are ignored: the same work fails again in the real run.
   */
  async #meanwhile(): Promise<void> {
    if (this.#link || this.#early || !this.#run.shared.request.fun.startsWith('state.')) return;
    if (!this.#speculate()) await this.#attempt.templates.warmUp();
  }

  /** Begins a run that assumes the grains of the last one, if there are any of use. */
  #speculate(): Speculation | undefined {
    const { shared } = this.#run;
    const grains = this.#grains.assumed;
    if (!grains) return undefined;
    this.#speculation ??= speculate(shared, (quiet, commit) => {
      const attempt = this.#newAttempt(quiet, this.#answers.record, () => commit(true));
      attempt.suppose(grains, () => commit(false));
      const run = { ...this.#run, shared: quiet };
      const result = this.#learnModules(attempt).then(() => perform(run, attempt));
      return { attempt, result };
    });
    return this.#speculation;
  }

  /** @param greeted before it resolves, nothing on the host is changed and no state is counted */
  #newAttempt(
    shared: Shared,
    ask: AskSource,
    greeted: () => Promise<unknown> = async () => undefined,
  ): HostAttempt {
    const { host, gate } = this.#run;
    return new HostAttempt(shared, host, {
      ask,
      refuse: error => {
        this.#refused ??= error;
        this.#disconnect();
      },
      grains: this.#allGrains,
      ready: async () => {
        await greeted();
        await gate?.ready();
      },
      restart: restart => restartHost(this.#restartLink(), restart),
      guarded: (guard, states) => runWithRollback(this.#guardLink(), guard, states),
      beginLast: () => {
        if (this.#run.kept || this.#questions.areOpen) return false;
        this.#stopAnswering();
        return true;
      },
    });
  }

  async #startRuntime(wiring: Wiring = {}): Promise<Link> {
    const connection = await this.#connected();
    const slot = this.#serve(new RuntimeSlot());
    this.#link = await connectRuntime(this.#run, connection, slot, {
      logged: this.#logged,
      ...wiring,
    });
    return this.#link;
  }

  /** Returns the connection; logs in if there is none. */
  async #connected(): Promise<Connection> {
    return this.#connection ?? (await this.connect());
  }

  /**
   * An early job may send requests in the same packet as hello, so the host's grains are awaited
   * first.
   */
  #handlers(): Record<string, Handler> {
    return Object.fromEntries(
      Object.keys(this.#attempt.handlers).map((method): [string, Handler] => [
        method,
        async (params, peer) => {
          await this.#greeted;
          if (mayNeedGrains(method)) await this.#allGrains();
          return this.#attempt.handlers[method]?.(params, peer);
        },
      ]),
    );
  }

  async #reopen(why: string): Promise<Link> {
    await this.connect(why);
    return this.#startRuntime();
  }

  get #way(): HostWay {
    return {
      id: this.#run.host.id,
      signal: this.#run.signal,
      ended: () => this.#link?.ended ?? Promise.resolve(),
      close: () => this.#disconnect(),
    };
  }

  /** The link as `runWithRollback` needs it. */
  #guardLink(): RollbackLink {
    return {
      ...this.#way,
      reopen: async () => (await this.#reopen('the guard asks for a new login')).peer,
    };
  }

  /** The link as `restartHost` needs it. */
  #restartLink(): RestartLink {
    const { calls } = this.#attempt;
    return {
      ...this.#way,
      call: (fun, args, kwargs) => calls.callHost(fun, args, kwargs),
      reopen: async () => {
        const { hello, peer } = await this.#reopen('the host restarts');
        const bootId = await calls.callHost('file.read', [bootFile], {}, { early: peer });
        this.#attempt.greet(hello.grains ?? {}, peer);
        return plainText(bootId.value).trim();
      },
    };
  }
}
