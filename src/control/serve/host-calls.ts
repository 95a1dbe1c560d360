import { splitFunctionName } from '../../data/signatures/function-name.ts';
import { mayBeCalled } from '../../data/signatures/module-names.ts';
import { type Data, type Dict, toData, toPlain, toPlainDict } from '../../data/values/value.ts';
import { TsaltError } from '../../protocol/error.ts';
import type { CallParams, CallResult, NamesParams } from '../../protocol/job.ts';
import type { ModuleMeta } from '../../protocol/meta.ts';
import type { Peer } from '../../protocol/peer.ts';
import { isPlainDict, type Plain, type PlainDict } from '../../protocol/plain.ts';
import type { WrapperContext } from '../../wrapper/context.ts';
import { callWrapper } from '../../wrapper/define.ts';
import { dataOf } from '../../wrapper/outcome.ts';
import { findWrapper, isReadOnly } from '../../wrapper/table.ts';
import type { HostFacts } from '../facts/host-facts.ts';
import type { HostPillar } from '../pillar/host-pillar.ts';
import type { FileRefs } from './file-refs.ts';
import type { RenderRefs } from './render-refs.ts';
import { readCalled } from './reported-events.ts';

type CallSettings = {
  /** The wire before the host has sent its hello. */
  readonly early?: Peer;
  /** See `CallParams`. */
  readonly needsNoGrains?: boolean;
  /** The pillar for callers that cannot wait for the run's pillar. */
  readonly seen?: Dict;
  /** Paths in the arguments do not become files that the host may fetch. */
  readonly unnamed?: boolean;
  /** Fails the call if the response is longer. */
  readonly mostBytes?: number;
};

const userNames = new WeakMap<readonly ModuleMeta[], ReadonlySet<string>>();

/** The names of the user's execution modules. Templates ask for them with each call. */
const userModules = (modules: readonly ModuleMeta[]): ReadonlySet<string> => {
  const known = userNames.get(modules);
  if (known) return known;
  const own = modules.filter(({ builtin, kind }) => !builtin && kind === 'exec');
  const names = new Set(own.map(({ virtualname, file }) => virtualname ?? file));
  userNames.set(modules, names);
  return names;
};

/** Longer responses would hold up all other hosts: templates walk through them without a pause. */
const mostForTemplates = 8 * 1024 * 1024;
const mostValues = 200_000;

/** Characters of all responses to templates of one host: everything that the host sent is kept. */
const mostTogether = 32 * 1024 * 1024;

/**
 * Counts the characters in data. Not recursive: a host chooses the depth.
 *
 * @returns undefined if there are more than `most` values
 */
const charactersIn = (data: Plain, most: number): number | undefined => {
  const open: Plain[] = [data];
  let left = most;
  let characters = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    left -= 1;
    characters += typeof next === 'string' ? next.length : 4;
    const inner = Array.isArray(next) ? next : isPlainDict(next) ? Object.values(next) : [];
    if (inner.length > left || left < 0) return undefined;
    if (isPlainDict(next)) for (const key of Object.keys(next)) characters += key.length;
    for (const item of inner) open.push(item);
  }
  return characters;
};

const tooManyValues = (fun: string): TsaltError =>
  new TsaltError(
    'answer-length',
    `The answer to '${fun}' has more than ${mostValues} values: ask for less.`,
    { kind: 'host' },
  );

const tooMuchTogether = (): TsaltError =>
  new TsaltError(
    'answer-length',
    `The answers to calls of templates have more than ${mostTogether / 1024 / 1024} MB together: ask for less.`,
    { kind: 'host' },
  );

/**
 * Calls functions for one host: on the host over its wire, or here if they belong to the control
 * node.
 */
export class HostCalls {
  readonly #facts: HostFacts;
  readonly #pillar: HostPillar;
  readonly #refs: FileRefs;
  readonly #renders: RenderRefs;
  /** The context of functions of the control node that are called by others. */
  readonly #context: (seen?: Dict) => WrapperContext;
  #peer: Peer | (() => Promise<Peer>) | undefined;
  #isSupposed = false;
  /** Something beside states needed the host. */
  hasAsked = false;
  /** Characters of the responses that templates received. */
  #characters = 0;
  readonly #running = new Map<symbol, string>();

  constructor(
    facts: HostFacts,
    pillar: HostPillar,
    [refs, renders]: readonly [FileRefs, RenderRefs],
    context: (seen?: Dict) => WrapperContext,
  ) {
    this.#facts = facts;
    this.#pillar = pillar;
    this.#refs = refs;
    this.#renders = renders;
    this.#context = context;
  }

  /** Sets the wire, or how to open it when the first call needs it. */
  connect(peer: Peer | (() => Promise<Peer>)): void {
    this.#peer = peer;
  }

  /** As `connect`, for a run that assumes the grains of a host until there is a wire. */
  suppose(peer: () => Promise<Peer>): void {
    this.#peer = peer;
    this.#isSupposed = true;
  }

  /** Waits for the wire. Throws if none is being opened. */
  async wire(): Promise<Peer> {
    if (typeof this.#peer === 'function') return this.#peer();
    if (this.#peer !== undefined) return this.#peer;
    throw new TsaltError('no-session', `${this.#facts.host.id} is not connected yet.`, {
      kind: 'internal',
    });
  }

  /** As `wire`, to ask the host something beside the run of its states. */
  peer(): Promise<Peer> {
    this.hasAsked = true;
    return this.wire();
  }

  /** Calls an execution function on the host. */
  callHost = async (
    fun: string,
    args: readonly Plain[],
    kwargs: PlainDict,
    { early, needsNoGrains, seen, unnamed = false, mostBytes }: CallSettings = {},
  ): Promise<CallResult> => {
    if (!unnamed) {
      const { modules, opts, ownOnHost } = this.#facts;
      // It names no file because it means all of them.
      const all = fun === 'cp.cache_master' ? ['salt://'] : [];
      this.#refs.add([...args, kwargs, ...all], opts.saltenv);
      const [module] = splitFunctionName(fun);
      if (ownOnHost.some(item => item.kind === 'exec' && mayBeCalled(item, module)))
        for (const { sources = [] } of ownOnHost) sources.forEach(this.#refs.addSource);
      this.#renders.addCall({ fun, args, kwargs }, modules, '', opts.saltenv);
    }
    const params: CallParams = {
      fun,
      args,
      kwargs,
      opts: this.#facts.opts,
      ...(early ? {} : await this.pillarForModules(seen)),
      ...(needsNoGrains ? { needsNoGrains, isLast: true } : {}),
    };
    const peer = early ?? (await this.peer());
    const call = Symbol(fun);
    this.#running.set(call, fun);
    try {
      return readCalled(await peer.request('call', params, undefined, mostBytes));
    } finally {
      // When the link ends, these calls were running.
      if (!peer.closed) this.#running.delete(call);
    }
  };

  /** The functions that were sent to the host and have not returned. */
  get running(): readonly string[] {
    return [...this.#running.values()];
  }

  /** Calls a function, on the host or here. */
  call = (fun: string, args: readonly Data[], kwargs: Dict): Promise<Data> =>
    this.#call(fun, args, kwargs);

  /**
   * As `call`, for a template that the host sent: the files that it names are not added to those
   * that the host may fetch.
   */
  callUnnamed = (fun: string, args: readonly Data[], kwargs: Dict): Promise<Data> =>
    this.#call(fun, args, kwargs, undefined, true);

  /**
   * As `call`, for a file of the pillar, which would wait for itself if it waited for the run's
   * pillar.
   */
  callSeeing =
    (seen: Dict): typeof this.call =>
    (fun, args, kwargs) =>
      this.#call(fun, args, kwargs, seen);

  async #call(
    fun: string,
    args: readonly Data[],
    kwargs: Dict,
    seen?: Dict,
    unnamed = false,
  ): Promise<Data> {
    const wrapper = await this.wrapper(fun);
    // A speculative run may assume the wrong grains: nothing is changed before it is committed.
    if (wrapper?.changes && this.#isSupposed) await this.peer();
    if (wrapper) return dataOf(await callWrapper(fun, wrapper, this.#context(seen), args, kwargs));
    const known = { ...(seen ? { seen } : {}), unnamed, mostBytes: mostForTemplates };
    const { value } = await this.callHost(fun, args.map(toPlain), toPlainDict(kwargs), known);
    const characters = charactersIn(value, mostValues);
    if (characters === undefined) throw tooManyValues(fun);
    this.#characters += characters;
    if (this.#characters > mostTogether) throw tooMuchTogether();
    this.#facts.hear(value, fun);
    return toData(value);
  }

  /** Returns the control node's function of this name, unless a user's module replaces it. */
  wrapper = async (fun: string): Promise<ReturnType<typeof findWrapper>> => {
    const found = findWrapper(fun);
    if (!found) return undefined;
    const { modules } = await this.#facts.shared.artifact();
    const [name] = splitFunctionName(fun);
    return userModules(modules).has(name) ? undefined : found;
  };

  /** The functions of a kind that the host has. */
  available = async (kind: 'exec' | 'state'): Promise<ReadonlySet<string>> => {
    const params: NamesParams = {
      kind,
      opts: this.#facts.opts,
      ...(await this.pillarForModules()),
    };
    const names: unknown = await (await this.peer()).request('names', params);
    return new Set(Array.isArray(names) ? names.filter(name => typeof name === 'string') : []);
  };

  /** Whether a function only reads this host's data. False if a user's module provides it. */
  onlyLooks = async (fun: string): Promise<boolean> =>
    isReadOnly(fun) && (await this.wrapper(fun)) !== undefined;

  /** Whether a user's module reads the pillar on the host. */
  async needsPillar(): Promise<boolean> {
    const { modules } = await this.#facts.shared.artifact();
    return modules.some(item => item.usesPillar && !item.builtin);
  }

  /** Returns the pillar to send along if a module on the host reads it. */
  async pillarForModules(seen?: Dict): Promise<{ pillar?: PlainDict }> {
    if (!(await this.needsPillar())) return {};
    return { pillar: toPlainDict(seen ?? (await this.#pillar.get())) };
  }
}
