import type { Ranges } from '../../data/taint.ts';
import { type Data, type Dict, isDict, toData, toDict, toPlain } from '../../data/values/value.ts';
import { TsaltError } from '../../protocol/error.ts';
import type { LowChunk } from '../../protocol/low.ts';
import { isPlainDict, type Plain, type PlainDict } from '../../protocol/plain.ts';
import { parseSlotCall, slotPrefix } from '../../protocol/slot-call.ts';
import { unpack } from '../../render/confined/wire.ts';
import { readable } from '../../transport/unreachable.ts';
import type { WrapperContext } from '../../wrapper/context.ts';
import { bindWrapper, callBound, type WrapperArguments } from '../../wrapper/define.ts';
import {
  type CallLimits,
  controlFormats,
  type HostFunction,
  hostFunction,
  isOfKind,
} from '../../wrapper/host-functions.ts';
import { dataOf } from '../../wrapper/outcome.ts';
import { findWrapper } from '../../wrapper/table.ts';
import type { HostWork } from '../apart/host-work.ts';
import { calledBy } from '../prepare/check-functions.ts';
import { readCall } from './request-params.ts';

/**
 * Answers `control.call`: the functions that a host calls on the control node. The host is not
 * trusted. It may call the functions listed in `wrapper/host-functions.ts`, with arguments of
 * bounded size, and some of them only as its own job states the call.
 */
export class HostFunctions {
  readonly #taintOf: (text: string) => Ranges | undefined;
  readonly #context: () => WrapperContext;
  readonly #work: HostWork;
  /** The strings of the chunks that call a function, by function. */
  readonly #stated = new Map<string, Set<string>>();
  #serializes = false;
  #refreshesLeft = fewRefreshes;

  constructor(
    taintOf: (text: string) => Ranges | undefined,
    context: () => WrapperContext,
    work: HostWork,
  ) {
    this.#work = work;
    this.#taintOf = taintOf;
    this.#context = context;
  }

  /** Registers the calls of these chunks, and the calls that the engine makes for their options. */
  addChunks(chunks: readonly LowChunk[], opts: PlainDict = {}): void {
    if (isPlainDict(opts.global_state_conditions))
      this.#state('match.compound', Object.values(opts.global_state_conditions));
    for (const chunk of chunks) {
      if (chunk.state === 'file' && chunk.fun === 'serialize') this.#serializes = true;
      this.#addSlots(chunk);
      const names = calledBy(chunk);
      if (chunk.reload_pillar || names.some(name => refreshes.has(name))) this.#refreshesLeft += 1;
      for (const name of names) this.#state(name, chunk);
    }
  }

  /** Registers the calls of slots, except of slots that a host sent. */
  #addSlots(chunk: LowChunk): void {
    for (const text of textsIn(chunk)) {
      if (!text.startsWith(slotPrefix) || this.#taintOf(text)) continue;
      const call = parseSlotCall(text.slice(slotPrefix.length).replace(/^[^:]*:/, ''));
      if (call) this.#state(call.fun, [...call.args, call.kwargs]);
    }
  }

  #state(fun: string, given: Nested): void {
    const texts = this.#stated.get(fun) ?? new Set();
    for (const text of textsIn(given)) if (!this.#taintOf(text)) texts.add(text);
    this.#stated.set(fun, texts);
  }

  /** Answers a request of the host. @throws TsaltError for a call that it may not make */
  request = async (said: unknown): Promise<Plain> => {
    const { fun, args, kwargs } = readCall(said);
    const spec = this.#allowed(fun);
    if (Object.keys(kwargs).length > mostNamed) throw refused(fun, 'does not take so many names');
    checkSize(fun, [args, kwargs], spec.limits);
    const value = await this.#call(fun, spec, [args.map(toData), toDict(kwargs)]);
    // Aliases make a large value of a short YAML text.
    if (spec.right === 'serialize') checkSize(fun, value, spec.limits);
    return toPlain(value);
  };

  /**
   * Calls a function for a template that the host sent: it may call what the host itself may call.
   */
  call = async (fun: string, args: readonly Data[], kwargs: Dict): Promise<Data> => {
    const spec = this.#allowed(fun);
    checkSize(fun, [args, kwargs], spec.limits);
    return this.#call(fun, spec, [args, kwargs], true);
  };

  #allowed(fun: string): HostFunction {
    const spec = hostFunction(fun);
    if (!spec) throw refused(fun, 'is not available to a host');
    if (spec.right === 'stated' && !this.#stated.has(fun))
      throw refused(fun, 'is not called by a state of this run');
    if (spec.right === 'serialize' && !this.#serializes)
      throw refused(fun, 'is for file.serialize, which this run does not have');
    return spec;
  }

  async #call(
    fun: string,
    spec: HostFunction,
    [args, kwargs]: readonly [readonly Data[], Dict],
    isNested = false,
  ): Promise<Data> {
    const found = findWrapper(fun);
    if (!found) throw refused(fun, 'is not available to a host');
    const given = bindWrapper(fun, found, args, kwargs);
    const { bound, rest, extra } = given;
    for (const [name, value] of [...bound, ...extra]) {
      const isGiven = value !== null && value !== defaultOf(found, String(name));
      const kind = Object.hasOwn(spec.arguments, String(name))
        ? spec.arguments[String(name)]
        : undefined;
      if (isGiven && (kind === undefined || !isOfKind(value, kind)))
        throw refused(fun, `does not take this ${readable(String(name), 80)} from a host`);
    }
    if (rest.length > (spec.most ?? 0) || !rest.every(value => isOfKind(value, 'scalar')))
      throw refused(fun, 'does not take these arguments from a host');
    if (spec.right === 'stated') this.#checkStated(fun, [...args, kwargs]);
    if (spec.right === 'serialize' && !formatOf(fun).includes(String(bound.get('serializer'))))
      throw refused(fun, 'does not take this format from a host');
    if (refreshes.has(fun)) this.#countRefresh(fun);
    if (fun === 'slsutil.deserialize') return this.#read(bound, spec.limits, isNested);
    return dataOf(await callBound(found, this.#context(), given));
  }

  /** Parses a document in another process: even a short one may take long. */
  async #read(
    given: WrapperArguments,
    { values, characters }: CallLimits,
    isNested: boolean,
  ): Promise<Data> {
    const job = {
      type: 'read',
      format: String(given.get('serializer')),
      text: String(given.get('stream_or_string') ?? ''),
      most: { values, characters },
    } as const;
    return unpack(
      isNested
        ? await this.#work.now(job, asksNothing)
        : await this.#work.inTurn(async () => job, asksNothing),
    );
  }

  /**
   * Requires that a state of the job calls the function with these strings, and that no host sent
   * them.
   */
  #checkStated(fun: string, given: readonly Data[]): void {
    const texts = this.#stated.get(fun);
    for (const text of textsIn(given))
      if (!texts?.has(text)) throw refused(fun, 'is not called so by a state of this run');
    if (fun === 'match.compound' && given.some(hasSlowMatcher))
      throw refused(
        fun,
        'takes from a host no expression with other matchers than E@, G@, I@, L@, S@',
      );
  }

  /**
   * Compiling a pillar takes long: a host may request it only as often as its states may need it.
   */
  #countRefresh(fun: string): void {
    if (this.#refreshesLeft <= 0) throw refused(fun, 'was called too often by this host');
    this.#refreshesLeft -= 1;
  }
}

const asksNothing = (): Promise<never> =>
  Promise.reject(new Error('A document must not make calls.'));

const refreshes: ReadonlySet<string> = new Set([
  'saltutil.refresh_pillar',
  'saltutil.pillar_refresh',
]);

/** No function has more named arguments. */
const mostNamed = 32;

/** For the user's modules that refresh the pillar: no state names these calls. */
const fewRefreshes = 16;

const refused = (fun: string, why: string): TsaltError =>
  new TsaltError('wire-method', `'${readable(fun, 100)}' ${why}.`, {
    kind: 'host',
    hint: 'Call it in the SLS or the pillar, and give the value to the state.',
  });

const formatOf = (fun: string): readonly string[] =>
  Object.hasOwn(controlFormats, fun) ? controlFormats[fun as keyof typeof controlFormats] : [];

const defaultOf = (
  { params }: NonNullable<ReturnType<typeof findWrapper>>,
  name: string,
): Data | undefined => {
  const found = params.find(param => typeof param !== 'string' && param[0] === name);
  return typeof found === 'object' ? found[1] : undefined;
};

/**
 * Regular expressions for data of the host, and node groups that may contain some. `E@` matches the
 * id, which comes from the roster.
 */
const hasSlowMatcher = (value: Data): boolean =>
  [...textsIn(value)].some(text => /(?:^|[\s(])(?![EGILS]@)\w@/.test(text));

type Nested = Plain | Data | LowChunk | readonly Nested[];

/** Returns the values directly below a value; keys of dictionaries included. */
const below = (value: Nested): readonly Nested[] => {
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value as Nested[];
  if (isDict(value as Data)) return [...(value as Dict)].flat();
  return isPlainDict(value) ? Object.entries(value).flat() : [];
};

/** Yields all strings within a value, without keys. Not recursive: a host chooses the depth. */
const textsIn = function* (value: Nested): Generator<string> {
  const open: Nested[] = [value];
  while (open.length > 0) {
    const next = open.pop() as Nested;
    if (typeof next === 'string') yield next;
    else if (typeof next === 'object' && next !== null) {
      if (Array.isArray(next)) for (const item of next) open.push(item);
      else if (isDict(next as Data)) for (const item of (next as Dict).values()) open.push(item);
      else if (isPlainDict(next)) for (const item of Object.values(next)) open.push(item);
    }
  }
};

/** @throws TsaltError for arguments that are too deep, too many or too long */
const checkSize = (fun: string, value: Nested, limits: CallLimits): void => {
  let layer: readonly Nested[] = [value];
  let [values, characters] = [0, 0];
  // The list of the arguments is the first layer.
  for (let depth = -1; layer.length > 0; depth += 1) {
    if (depth > limits.depth)
      throw refused(fun, `takes at most ${limits.depth} levels from a host`);
    const next: Nested[] = [];
    for (const item of layer) {
      if (typeof item === 'string') characters += item.length;
      for (const child of below(item)) next.push(child);
      if (next.length + values > limits.values)
        throw refused(fun, `takes at most ${limits.values} values from a host`);
    }
    values += layer.length;
    if (characters > limits.characters)
      throw refused(fun, `takes at most ${limits.characters} characters from a host`);
    layer = next;
  }
};
