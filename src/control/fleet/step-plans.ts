import type { Request } from '../../config/request.ts';
import { TsaltError } from '../../protocol/error.ts';
import type { HostResult, RunEvent } from '../../protocol/event.ts';
import { type LowChunk, lowTag } from '../../protocol/low.ts';
import type { OrchestrationStep, StepReturn, StepReturns } from '../../protocol/orchestration.ts';
import { type PlainDict, setOwn } from '../../protocol/plain.ts';
import type { AppliedStep } from '../../protocol/plan.ts';
import { comparing } from './orchestration-request.ts';
import { allStringsIn } from './orchestration-steps.ts';

/** The plan of an orchestration: the one that its run makes, or the one that its run applies. */
export class StepPlans {
  readonly #request: Request;
  readonly #emit: (event: RunEvent) => void;
  readonly #why = new Map<string, string>();
  /** Hosts of steps that predicted what the plan says, and those that did not: by tag. */
  readonly #compared = new Map<string, Set<string>>();
  readonly #drifts = new Map<string, Map<string, string>>();
  /** The steps are predicted, to be compared with the plan. */
  isRehearsal = false;

  constructor(request: Request, emit: (event: RunEvent) => void) {
    this.#request = request;
    this.#emit = emit;
  }

  /** Orchestrations that another one runs are not planned: they are compiled when they run. */
  get #isOutermost(): boolean {
    return this.#request.steps === undefined;
  }

  get #makes(): boolean {
    return this.#isOutermost && this.#request.options.plan === true;
  }

  /** The tag under which the events of a step belong to the plan. */
  tagOf({ tag }: OrchestrationStep): { readonly tag?: string } {
    return this.#makes ? { tag } : {};
  }

  /** Returns a step that changes nothing where the run only predicts: a step may say `test: False`. */
  inTest<T extends { readonly kwarg: PlainDict }>(step: T): T {
    if (!this.isRehearsal && !this.#makes) return step;
    return { ...step, kwarg: { ...step.kwarg, test: true } };
  }

  /** Notes a step that was not run yet. */
  prepared(chunk: LowChunk, hosts: readonly string[], why?: string): void {
    if (!this.#makes) return;
    const tag = lowTag(chunk);
    const reason = why ?? reasonOf(chunk);
    if (reason !== undefined) this.#why.set(tag, reason);
    const runs = chunk.fun === 'state' && reason === undefined;
    this.#emit({
      type: 'step-targets',
      tag,
      id: chunk.__id__,
      hosts,
      later: {},
      ...(runs ? { why: notPredicted } : reason === undefined ? {} : { why: reason }),
    });
  }

  /** Notes the hosts of a step that was predicted. */
  predicted(
    { tag, id }: OrchestrationStep,
    returns: StepReturns,
    missed: ReadonlyMap<string, string>,
  ): void {
    if (!this.#makes) return;
    const why = this.#why.get(tag);
    const later: Record<string, string> = {};
    for (const [host, needed] of missed) setOwn(later, host, `it needs the result of '${needed}'`);
    this.#emit({
      type: 'step-targets',
      tag,
      id,
      hosts: Object.keys(returns),
      later,
      ...(why === undefined ? {} : { why }),
    });
  }

  /** The part of the applied plan for a step; undefined where there is none. */
  of({ tag }: { readonly tag: string }): AppliedStep | undefined {
    return this.#isOutermost ? this.#request.planned?.stepOf?.(tag) : undefined;
  }

  /** Narrows the request of a step to the hosts and the states of its plan. */
  bound(step: OrchestrationStep, request: Request): Request | undefined {
    const planned = this.of(step);
    if (!planned) return undefined;
    const drifts = this.isRehearsal ? undefined : this.#drifts.get(step.tag);
    const compared = this.#compared.get(step.tag);
    return {
      ...request,
      options: this.isRehearsal ? comparing(request.options) : request.options,
      target: planned.hosts.filter(host => drifts?.has(host) !== true).join(','),
      targetType: 'list',
      planned: {
        artifact: this.#request.planned?.artifact ?? '',
        runOf: host => {
          const run = planned.runOf(host);
          return run && { ...run, isCompared: compared?.has(host) === true };
        },
      },
    };
  }

  /** The returns of hosts that differ from the plan: nothing is run there. */
  differing({ tag }: OrchestrationStep): Record<string, StepReturn> {
    const returns: Record<string, StepReturn> = {};
    if (this.isRehearsal) return returns;
    for (const [host, message] of this.#drifts.get(tag) ?? [])
      setOwn(returns, host, { ret: false, retcode: 1, failed: message.split('\n')[0] ?? '' });
    return returns;
  }

  /** Notes what a host predicted. */
  compared({ tag }: OrchestrationStep, { id, failure }: HostResult): void {
    if (!this.isRehearsal) return;
    if (failure?.kind === 'drift') entry(this.#drifts, tag, new Map()).set(id, failure.message);
    else if (!failure) entry(this.#compared, tag, new Set()).add(id);
  }

  /** Predicts all steps, and compares them with the plan. */
  async rehearse<T>(work: () => Promise<T>): Promise<T> {
    this.isRehearsal = true;
    try {
      return await work();
    } finally {
      this.isRehearsal = false;
    }
  }

  /**
   * Refuses to begin where hosts differ from the plan, unless `--drift continue` leaves these out.
   *
   * @throws TsaltError `plan-drift`
   */
  refuseDrift(): void {
    const messages = [...this.#drifts.values()].flatMap(drifts => [...drifts.values()]);
    if (messages.length === 0 || this.#request.options.drift === 'continue') return;
    const hosts = [...new Set([...this.#drifts.values()].flatMap(drifts => [...drifts.keys()]))];
    const verb = hosts.length === 1 ? 'differs' : 'differ';
    throw new TsaltError(
      'plan-drift',
      [
        `${hosts.sort().join(', ')} ${verb} from the plan of the orchestration. No step was run.`,
        ...messages,
      ].join('\n'),
      { kind: 'drift', hint: 'Make a new plan: --plan-out.' },
    );
  }
}

const notPredicted = 'it does not run as things are';

/** Why a step cannot be compiled before it runs; undefined where it can. */
const reasonOf = (chunk: LowChunk): string | undefined => {
  if (chunk.fun === 'runner' || chunk.fun === 'parallel_runners')
    return 'it runs other orchestrations';
  const slots = allStringsIn(chunk).filter(text => text.startsWith('__slot__:'));
  if (slots.length === 0) return undefined;
  const ids = slots.flatMap(
    slot => /orch\.result\(\s*['"]?([^,'")]+)/.exec(slot)?.[1]?.trim() ?? [],
  );
  if (ids.length === 0) return 'its arguments have slots';
  return `it needs the result of ${[...new Set(ids)].map(id => `'${id}'`).join(', ')}`;
};

const entry = <T>(map: Map<string, T>, key: string, made: T): T => {
  const known = map.get(key) ?? made;
  map.set(key, known);
  return known;
};
