import type { HostResult, RunEvent } from '../protocol/event.ts';
import { setOwn } from '../protocol/plain.ts';
import { isStepTag, type PlannedJob, type Prediction, predictionOf } from '../protocol/plan.ts';
import type { StateResult } from '../protocol/result.ts';
import { StateFindings } from './findings.ts';
import type { Plan, PlannedHost } from './plan.ts';
import { PlannedSteps } from './steps.ts';
import { Table } from './table.ts';

/** Characters of one host's predictions. What it predicts must not keep others from being planned. */
const longest = 16 * 1024 * 1024;
const tooLong = `its predictions have more than ${longest / 1024 / 1024} million characters`;

/** The parts of a plan that are known before the run. */
export type PlanHead = Pick<Plan, 'tsalt' | 'created' | 'expires' | 'jid' | 'call'>;

/**
 * Makes a plan from the events of a run in test mode. Equal chunks and predictions are stored once.
 */
export class PlanCollector {
  readonly #head: PlanHead;
  readonly #chunks = new Table<Plan['chunks'][number]>();
  readonly #states = new Table<Plan['states'][number]>();
  readonly #jobs = new Map<string, Omit<PlannedHost, 'states'>>();
  readonly #hosts: Record<string, PlannedHost> = {};
  readonly #failed = new Map<string, string>();
  readonly #steps = new PlannedSteps();
  readonly #findings = new StateFindings();
  readonly #files: Record<string, Record<string, string>> = {};
  readonly #folders: Record<string, string[]> = {};
  /** The order of the target: hosts end in another order. */
  readonly #order = new Map<string, number>();
  #artifact = '';
  /** Where chunks have secrets, by host. */
  readonly secrets = new Map<string, readonly string[]>();

  constructor(head: PlanHead) {
    this.#head = head;
  }

  emit = (event: RunEvent): void => {
    if (event.type === 'start') for (const id of event.hosts) this.#order.set(id, this.#order.size);
    else if (event.type === 'plan' && event.job)
      this.#jobs.set(event.host, this.#job(event.host, event.job()));
    else if (event.type === 'host') this.#host(event.result);
    else if (event.type === 'step-targets') this.#steps.targets(event);
    else if (event.type === 'step') this.#inStep(event);
    else if (event.type === 'not-started')
      for (const id of event.hosts) this.#failed.set(id, `not started: ${event.reason}`);
    else this.#findings.follow(event);
  };

  /** Returns the plan, once the run has ended. */
  plan(): Plan {
    const steps = this.#steps.list((where, { job, predictions }) => ({
      ...this.#job(where, job),
      states: this.#places(predictions),
    }));
    return {
      ...this.#head,
      artifact: this.#artifact,
      files: this.#files,
      folders: this.#folders,
      chunks: this.#chunks.values,
      states: this.#states.values,
      hosts: Object.fromEntries(this.#sorted(Object.entries(this.#hosts))),
      ...(this.#steps.isEmpty ? {} : { steps }),
      failed: this.#sorted([...this.#failed]).map(([id, message]) => ({ id, message })),
      findings: this.#findings.list(),
    };
  }

  #sorted<T>(byHost: [id: string, value: T][]): [id: string, value: T][] {
    const place = ([id]: [string, T]): number => this.#order.get(id) ?? 0;
    return byHost.sort((a, b) => place(a) - place(b));
  }

  #job(id: string, job: PlannedJob): Omit<PlannedHost, 'states'> {
    const { chunks, saltenv, opts, sources, tainted } = job;
    const places = chunks.map(chunk => this.#chunks.place(chunk));
    this.#artifact = job.artifact;
    if (job.secrets.length > 0) this.secrets.set(id, job.secrets);
    for (const [saltenv, files] of Object.entries(job.files)) {
      this.#files[saltenv] ??= {};
      for (const [path, hash] of Object.entries(files)) setOwn(this.#files[saltenv], path, hash);
    }
    for (const [saltenv, folders] of Object.entries(job.folders))
      this.#folders[saltenv] = [...new Set([...(this.#folders[saltenv] ?? []), ...folders])];
    return { chunks: places, saltenv, opts, sources, tainted };
  }

  /** Follows a host at work on a step of an orchestration. */
  #inStep({ tag, event }: RunEvent & { type: 'step' }): void {
    if (tag === undefined) return;
    if (event.type === 'plan' && event.job) this.#steps.job(tag, event.host, event.job());
    else if (event.type === 'host') {
      const { states = {}, failure } = event.result;
      const predictions = predictionsIn(states);
      const reason = failure?.message ?? reasonWithoutStates(event.result);
      this.#steps.ended(tag, event.result.id, {
        predictions: failure === undefined ? predictions : undefined,
        why: predictions ? reason : tooLong,
      });
    }
  }

  /** Returns the places of the predictions in the plan. */
  #places(predictions: readonly Prediction[]): number[] {
    return predictions.map(one => this.#states.place(one));
  }

  #host(result: HostResult): void {
    const { id, states = {}, failure } = result;
    const job = this.#jobs.get(id);
    this.#jobs.delete(id);
    if (failure !== undefined || job === undefined) {
      this.#failed.set(id, failure?.message ?? reasonWithoutStates(result));
      return;
    }
    const predictions = predictionsIn(states);
    if (predictions === undefined) this.#failed.set(id, tooLong);
    else setOwn(this.#hosts, id, { ...job, states: this.#places(predictions) });
  }

  /** Adds a finding about the project, which no host reported. */
  addFinding(message: string): void {
    this.#findings.add(message);
  }
}

/** A step's changes are those of its hosts, which the plan has by itself. */
const prediction = (tag: string, state: StateResult): Prediction => {
  const made = predictionOf(tag, state);
  return isStepTag(tag) ? { ...made, changes: {} } : made;
};

/** Returns the predictions of one host; undefined if they are too long. */
const predictionsIn = (states: Readonly<Record<string, StateResult>>): Prediction[] | undefined => {
  const predictions = Object.entries(states).map(([tag, state]) => prediction(tag, state));
  let left = longest;
  for (const one of predictions) left -= JSON.stringify(one).length;
  return left < 0 ? undefined : predictions;
};

/** Why a host that answered has no plan: its states do not compile, or there are none. */
export const reasonWithoutStates = ({ value, states, problems }: HostResult): string => {
  const [first] = problems ?? [];
  if (first) return first.sentence ?? first.message;
  const [comment] = Object.values(states ?? {}).map(state => state.comment);
  if (comment !== undefined) return comment;
  return Array.isArray(value) ? value.map(String).join('\n') : 'no states were run';
};
