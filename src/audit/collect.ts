import { hostOutcome } from '../output/host-outcome.ts';
import { reasonWithoutStates } from '../plan/collect.ts';
import { StateFindings } from '../plan/findings.ts';
import { Table } from '../plan/table.ts';
import type { HostResult, RunEvent } from '../protocol/event.ts';
import { getOwn, setOwn } from '../protocol/plain.ts';
import { type Prediction, predictionOf } from '../protocol/plan.ts';
import type { StateResults } from '../protocol/result.ts';
import type { Audit, AuditOutcome, Drift, GoneDrift, HostAudit } from './audit.ts';
import { type AuditRecord, drifted, type KnownDrift, knownDrift } from './history.ts';

/** Makes an audit from the events of a run in test mode. */
export class AuditCollector {
  readonly #began: string;
  readonly #previous: AuditRecord | undefined;
  readonly #predictions = new Table<Prediction>();
  readonly #hosts: Record<string, HostAudit> = {};
  readonly #drift = new Map<string, KnownDrift>();
  readonly #findings = new StateFindings();

  /** @param began in ISO 8601 */
  constructor(began: string, previous: AuditRecord | undefined) {
    this.#began = began;
    this.#previous = previous;
  }

  emit = (event: RunEvent): void => {
    if (event.type === 'start')
      for (const id of event.hosts) this.#without(id, 'skipped', 'not begun');
    else if (event.type === 'not-started')
      for (const id of event.hosts) this.#without(id, 'skipped', `not started: ${event.reason}`);
    else if (event.type === 'host') this.#host(event.result);
    else this.#findings.follow(event);
  };

  /** Adds a finding about the project, which no host reported. */
  addFinding(message: string): void {
    this.#findings.add(message);
  }

  /** Returns the audit, once the run has ended. */
  audit(jid: string, ended: string): Audit {
    return {
      jid,
      began: this.#began,
      ended,
      ...(this.#previous ? { previous: this.#previous.at } : {}),
      hosts: this.#hosts,
      findings: this.#findings.list(),
    };
  }

  /** The drift of the hosts whose states were compared, for the next audit. */
  get drift(): ReadonlyMap<string, KnownDrift> {
    return this.#drift;
  }

  #without(id: string, outcome: AuditOutcome, reason: string): void {
    setOwn(this.#hosts, id, { outcome, states: 0, drift: [], failed: [], gone: [], reason });
  }

  #host(result: HostResult): void {
    const { id, states, failure, retcode } = result;
    const isBad = failure !== undefined || retcode !== 0;
    if (states === undefined || Object.hasOwn(states, noStates)) {
      const outcome = hostOutcome(result) === 'unreachable' ? 'unreachable' : 'failed';
      this.#without(id, outcome, failure?.message ?? reasonWithoutStates(result));
      return;
    }
    const before = knownDrift(this.#previous, id);
    const [drift, failed] = this.#compare(states, before);
    const outcome = isBad ? 'failed' : drift.length > 0 ? 'drifted' : 'clean';
    const reason = failure?.message;
    // A host that broke off in the middle says nothing about the states after that.
    const gone = failure === undefined ? goneDrift(states, before) : [];
    setOwn(this.#hosts, id, {
      outcome,
      states: Object.keys(states).length,
      drift,
      failed,
      gone,
      ...(reason === undefined ? {} : { reason }),
    });
    this.#note(id, states, drift, failure === undefined ? undefined : before);
  }

  #compare(states: StateResults, before: KnownDrift | undefined): [Drift[], Prediction[]] {
    const drift: Drift[] = [];
    const failed: Prediction[] = [];
    for (const [tag, state] of Object.entries(states)) {
      if (state.result === true) continue;
      const place = this.#predictions.place(predictionOf(tag, state));
      const kept = this.#predictions.values[place] as Prediction;
      if (state.result === false) failed.push(kept);
      else {
        const known = before && getOwn(before, drifted(tag));
        drift.push({
          state: kept,
          since: known ?? this.#began,
          isNew: before !== undefined && known === undefined,
        });
      }
    }
    return [drift, failed];
  }

  /** Keeps what drifts; a state that failed now still drifts if it did before. */
  #note(
    id: string,
    states: StateResults,
    drift: readonly Drift[],
    unseen: KnownDrift | undefined,
  ): void {
    const before = knownDrift(this.#previous, id) ?? {};
    const kept: Record<string, string> = { ...unseen };
    for (const [tag, { result }] of Object.entries(states)) {
      const known = getOwn(before, drifted(tag));
      if (result === false && known !== undefined) kept[drifted(tag)] = known;
    }
    for (const { state, since } of drift) kept[drifted(state.tag)] = since;
    this.#drift.set(id, kept);
  }
}

/** The tag of the only result of a host without states. */
const noStates = 'no_|-states_|-states_|-None';

/** The drift of the last audit of which the host is free: the state is as wanted, or no more. */
const goneDrift = (states: StateResults, before: KnownDrift | undefined): GoneDrift[] => {
  const open = new Map(Object.entries(before ?? {}));
  const gone: GoneDrift[] = [];
  for (const [tag, { result, __id__ }] of Object.entries(states)) {
    const since = open.get(drifted(tag));
    if (since === undefined) continue;
    open.delete(drifted(tag));
    if (result === true) gone.push({ since, id: __id__ });
  }
  return [...gone, ...[...open.values()].map(since => ({ since }))];
};
