import type { Data } from '../../data/values/value.ts';
import type { Artifact } from '../../protocol/artifact.ts';
import type { TsaltError } from '../../protocol/error.ts';
import type { Host } from '../../protocol/host.ts';
import type { Handler, Peer } from '../../protocol/peer.ts';
import type { Plain, PlainDict } from '../../protocol/plain.ts';
import type { WrapperContext } from '../../wrapper/context.ts';
import { HostWork } from '../apart/host-work.ts';
import { HostFacts } from '../facts/host-facts.ts';
import type { Shared } from '../facts/shared.ts';
import type { UserModules } from '../facts/user-modules.ts';
import { HostPillar } from '../pillar/host-pillar.ts';
import type { AskSource } from '../pillar/source-results.ts';
import { FileRefs } from '../serve/file-refs.ts';
import { fileHandlers } from '../serve/file-requests.ts';
import { HostCalls } from '../serve/host-calls.ts';
import { HostFunctions } from '../serve/host-functions.ts';
import { HostTemplates } from '../serve/host-templates.ts';
import { KeptTexts } from '../serve/kept-texts.ts';
import { orchestrationHandlers } from '../serve/orchestration-requests.ts';
import { pushHandler } from '../serve/pushed-files.ts';
import { RenderRefs } from '../serve/render-refs.ts';
import { readDecision, readGrains } from '../serve/request-params.ts';
import { HostStates, type StatesParts } from './host-states.ts';
import { contextForHost, pillarForSls, quietContext, runContext } from './wrapper-context.ts';

/** The parts of its session that an attempt needs. */
export type AttemptNeeds = Pick<StatesParts, 'ready' | 'restart' | 'guarded' | 'beginLast'> & {
  /** Asks external sources of the pillar. */
  readonly ask: AskSource;
  /** Asks for the grains of a host that began without them. */
  readonly grains: () => Promise<void>;
  /** Ends the run because the host made a forbidden request. */
  readonly refuse: (error: TsaltError) => void;
};

/** Asks before each state, in a run with `--step`. */
const decisionHandlers = ({ shared, host }: HostFacts): Readonly<Record<string, Handler>> => {
  const { decide } = shared.request;
  return decide
    ? { 'state.decide': async (said: unknown) => decide(host.id, readDecision(said)) }
    : {};
};

/**
 * One attempt at a host's run, on the control side: the facts about the host, its pillar,
 * templates, calls and states, and the requests that it may make. It is built before the host
 * answers; `greet` passes it the grains and the wire. A run needs a second attempt if the first
 * one, made by `speculate`, assumed wrong grains.
 */
export class HostAttempt {
  readonly facts: HostFacts;
  readonly pillar: HostPillar;
  readonly calls: HostCalls;
  readonly templates: HostTemplates;
  readonly states: HostStates;
  readonly #refs: FileRefs;
  readonly #renders: RenderRefs;
  readonly #functions: HostFunctions;
  readonly #texts: KeptTexts;
  readonly #work: HostWork;
  readonly #askGrains: () => Promise<void>;
  readonly #refuse: (error: TsaltError) => void;
  #handlers: Readonly<Record<string, Handler>> | undefined;

  constructor(shared: Shared, host: Host, { ask, grains, refuse, ...states }: AttemptNeeds) {
    this.#askGrains = grains;
    this.#refuse = refuse;
    this.#work = new HostWork(host.id);
    this.facts = new HostFacts(shared, host);
    for (const { text, ranges } of shared.request.steps?.tainted ?? [])
      this.facts.taint.learn(text, ranges);
    this.#refs = new FileRefs(text => this.facts.taintOf(text));
    const { config, kwargs } = shared.request;
    this.#renders = new RenderRefs(text => this.facts.taintOf(text));
    for (const given of [config.options, kwargs])
      this.#refs.addExtra(
        [given.get('extra_filerefs') ?? []].flat().map(String).join(' ').split(/[ ,]+/),
      );
    this.pillar = new HostPillar(
      this.facts,
      ask,
      (seen, saltenv) => ({
        ...this.templates.context(seen, saltenv),
        call: this.calls.callSeeing(seen),
      }),
      async (method, params) => {
        const answer = await (await this.calls.peer()).request<Plain>(method, params);
        this.facts.hear(answer, method);
        return answer;
      },
    );
    this.calls = new HostCalls(this.facts, this.pillar, [this.#refs, this.#renders], seen =>
      quietContext(seen ? { ...this, pillar: pillarForSls(this.pillar, seen) } : this),
    );
    this.#functions = new HostFunctions(
      text => this.facts.taintOf(text),
      () => contextForHost(this, this.#refs),
      this.#work,
    );
    this.templates = new HostTemplates(this.facts, this.pillar, this.calls, {
      functions: this.#functions,
      work: this.#work,
    });
    this.#texts = new KeptTexts(this.templates.renderAhead, () => ({
      grains: this.facts.grains,
      pillar: this.pillar.get(),
    }));
    this.states = new HostStates({
      facts: this.facts,
      pillar: this.pillar,
      calls: this.calls,
      refs: this.#refs,
      renders: this.#renders,
      functions: this.#functions,
      renderAhead: this.#texts.keep,
      ...states,
    });
  }

  /** Sets the modules, before the host has answered. */
  learn(artifact: Artifact, own: UserModules): void {
    this.facts.learnModules(artifact, own);
  }

  /** Sets grains and wire (or how to open it) when the host has answered. */
  greet(grains: PlainDict, peer: Peer | (() => Promise<Peer>)): void {
    this.facts.learnGrains(grains);
    this.calls.connect(peer);
  }

  /** Assumes these grains until the host answers. Work that needs the host waits for `peer`. */
  suppose(grains: PlainDict, peer: () => Promise<Peer>): void {
    this.facts.suppose(grains);
    this.calls.suppose(peer);
  }

  /**
   * Compares the assumed grains with the real ones. @returns whether all grains that were read are
   * right
   */
  confirm(grains: PlainDict): boolean {
    return this.facts.confirm(grains);
  }

  /** The context of the run's own function. */
  context(): WrapperContext {
    return runContext(this);
  }

  /** Calls a function for another host's template; it is not part of the run. */
  answer(fun: string, args: readonly Data[], isEarly: boolean): Promise<Data> {
    const call = isEarly ? this.calls.callSeeing(new Map()) : this.calls.call;
    return call(fun, args, new Map());
  }

  /** The run of this host is over. */
  close(): void {
    this.#work.close();
    this.#texts.close();
  }

  /** The requests that this host may make, once it has answered. */
  get handlers(): Readonly<Record<string, Handler>> {
    this.#handlers ??= this.#makeHandlers();
    return this.#handlers;
  }

  #makeHandlers(): Record<string, Handler> {
    return {
      ...fileHandlers({
        roots: this.facts.shared.fileRoots,
        refs: this.#refs,
        templates: this.#renders,
        render: async (...request) => {
          await this.#askGrains();
          return this.templates.render(...request);
        },
        renderAhead: this.templates.renderAhead,
        takeKept: this.#texts.take,
        check: this.templates.check,
        computes: () => this.#renders.hasSlots || this.facts.ownOnHost.length > 0,
        refuse: this.#refuse,
      }),
      'file.push': pushHandler(this.facts.shared.request.config, this.facts.host.id),
      'control.grains': async (said: unknown) => {
        this.facts.learnGrains(readGrains(said).grains);
        return null;
      },
      'control.call': this.#functions.request,
      ...decisionHandlers(this.facts),
      ...orchestrationHandlers(this.facts),
    };
  }
}
