import { getOwn, setOwn } from '../protocol/plain.ts';
import type { PlannedJob, Prediction, StepTargets } from '../protocol/plan.ts';
import type { PlannedHost, PlannedStep } from './plan.ts';

/** The compiled run of a host, and its predictions. */
export type CompiledHostRun = {
  readonly job: PlannedJob;
  readonly predictions: readonly Prediction[];
};

/** The end of a step on one host. */
type Ended = {
  /** Absent if the host has no plan. */
  readonly predictions: readonly Prediction[] | undefined;
  /** Why the host has no plan, if it has none. */
  readonly why: string;
};

/** Collects the steps of an orchestration for a plan. */
export class PlannedSteps {
  readonly #targets = new Map<string, StepTargets>();
  readonly #jobs = new Map<string, Map<string, PlannedJob>>();
  readonly #bound = new Map<string, Map<string, CompiledHostRun>>();
  readonly #failed = new Map<string, Map<string, string>>();

  get isEmpty(): boolean {
    return this.#targets.size === 0;
  }

  /** Notes the hosts of a step: what is known later replaces it. */
  targets({ tag, id, hosts, later, why }: StepTargets): void {
    const before = this.#targets.get(tag)?.hosts ?? [];
    const known = hosts.filter(host => !before.includes(host));
    // Hosts end in another order than that in which they run.
    const inOrder = [...before.filter(host => hosts.includes(host)), ...known.sort()];
    const rest = { later, ...(why === undefined ? {} : { why }) };
    this.#targets.set(tag, { tag, id, hosts: inOrder, ...rest });
  }

  /** Notes the compiled run of a host. */
  job(tag: string, host: string, job: PlannedJob): void {
    entry(this.#jobs, tag, new Map()).set(host, job);
  }

  /** A host has predicted a step. */
  ended(tag: string, host: string, { predictions, why }: Ended): void {
    const job = this.#jobs.get(tag)?.get(host);
    if (job && predictions) entry(this.#bound, tag, new Map()).set(host, { job, predictions });
    else entry(this.#failed, tag, new Map()).set(host, why);
  }

  /**
   * Returns the steps.
   *
   * @param place puts a compiled run into the plan: what is compiled when a step runs has no place in it
   */
  list(place: (where: string, compiled: CompiledHostRun) => PlannedHost): PlannedStep[] {
    return [...this.#targets.values()].map(({ tag, id, hosts, later, why }) => {
      const bound: Record<string, PlannedHost> = {};
      const open: { id: string; message: string }[] = [];
      for (const host of hosts) {
        const planned = this.#bound.get(tag)?.get(host);
        const message = getOwn(later, host) ?? this.#failed.get(tag)?.get(host);
        if (planned && message === undefined && why === undefined)
          setOwn(bound, host, place(`${id} on ${host}`, planned));
        else if (message !== undefined) open.push({ id: host, message });
      }
      return { tag, id, hosts, bound, later: open, ...(why === undefined ? {} : { why }) };
    });
  }
}

const entry = <T>(map: Map<string, T>, key: string, made: T): T => {
  const known = map.get(key) ?? made;
  map.set(key, known);
  return known;
};
