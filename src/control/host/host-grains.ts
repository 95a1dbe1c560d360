import type { Hello } from '../../protocol/job.ts';
import type { Peer } from '../../protocol/peer.ts';
import type { PlainDict } from '../../protocol/plain.ts';
import type { Link } from '../../transport/runtime-link.ts';
import type { HostAttempt } from './attempt.ts';
import { askGrains } from './early-call.ts';
import type { HostRun } from './host-run.ts';
import { type KeptGrains, keepGrains, lastGrains, readKept, wereUnread } from './last-grains.ts';

/** Requests of a host that are answered without its grains, or ask for them where they need them. */
const withoutGrains: ReadonlySet<string> = new Set([
  'control.grains',
  'file.get',
  'file.getMany',
  'file.list',
  'file.push',
  'state.decide',
]);

/** Whether the answer to a host's request may depend on its grains. */
export const mayNeedGrains = (method: string): boolean => !withoutGrains.has(method);

/** The grains of one host's run: those of its last run, and those that the host sends. */
export class HostGrains {
  readonly #run: HostRun;
  /** Read when the run began, if it could use it. */
  #last: KeptGrains | undefined;
  /** The grains that the host sent when it was asked. */
  #asked: PlainDict | undefined;
  #asking: Promise<void> | undefined;

  constructor(run: HostRun) {
    this.#run = run;
  }

  /** Reads what the host's last run kept, for a run of states. */
  readLast(): void {
    const { host, isTarget, shared } = this.#run;
    const { config, fun } = shared.request;
    if (!isTarget && fun.startsWith('state.')) this.#last = readKept(config, host);
  }

  /** The grains of the last run, if it can help to assume them. */
  get assumed(): PlainDict | undefined {
    return lastGrains(this.#run.shared.request, this.#last);
  }

  /**
   * Whether the run may begin without the grains of its host: nothing read them when the same states
   * were run before. If something does now, they are asked for, which takes a round trip. User modules
   * on the host may read whatever they like.
   */
  mayBeLeft({ facts }: HostAttempt): boolean {
    const { kept, shared } = this.#run;
    const { options, planned, decide } = shared.request;
    const isUsual = options.plan !== true && options.guard === undefined && !planned && !decide;
    return (
      isUsual &&
      !kept &&
      facts.loaded.length === 0 &&
      facts.opts.grains_file === undefined &&
      this.#last !== undefined &&
      this.assumed !== undefined &&
      wereUnread(shared.request, this.#last)
    );
  }

  /** The grains that the host has sent so far. */
  of({ grains }: Hello): PlainDict {
    return grains ?? this.#asked ?? {};
  }

  /** Asks a host that said hello without grains. */
  ask = async (peer: Peer): Promise<PlainDict> => {
    this.#asked = await askGrains(peer);
    return this.#asked;
  };

  /** Learns the grains of a host that said hello without them, before anything uses them. */
  complete(link: Link | undefined, attempt: () => HostAttempt): Promise<void> {
    this.#asking ??= (async () => {
      if (link?.hello.grains !== null || this.#asked) return;
      attempt().facts.learnGrains(await this.ask(link.peer));
    })();
    return this.#asking;
  }

  /**
   * Keeps the grains for the next run of the host.
   *
   * @param isWrong the speculation was discarded
   */
  async keep({ hello }: Link, attempt: HostAttempt, isWrong: boolean): Promise<void> {
    const { host, shared } = this.#run;
    const grains = hello.grains ?? this.#asked;
    if (!grains || hello.isPartial) return;
    const isUnread = !this.#asked && hasLeftGrains(attempt);
    await keepGrains(shared.request, host, { grains, isWrong, isUnread, read: this.#last });
  }
}

/** Whether a run that has ended could have done without the host's grains. */
const hasLeftGrains = ({ calls, facts, states }: HostAttempt): boolean =>
  states.isSent && !states.needsGrains && !calls.hasAsked && !facts.hasReadGrains;
