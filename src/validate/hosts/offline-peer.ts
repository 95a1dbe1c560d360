import { mayBeCalled } from '../../data/signatures/module-names.ts';
import { TsaltError } from '../../protocol/error.ts';
import type { CallParams } from '../../protocol/job.ts';
import type { ModuleMeta } from '../../protocol/meta.ts';
import { Peer } from '../../protocol/peer.ts';
import type { Plain, PlainDict } from '../../protocol/plain.ts';

/** The result of a function of the host, with these arguments or with any. */
export type RecordedResult = {
  readonly fun: string;
  readonly args?: readonly Plain[];
  readonly kwargs?: PlainDict;
  readonly value: Plain;
};

/** Replaces the wire to a host: answers from a record, and does not connect to anything. */
export class OfflinePeer extends Peer {
  readonly #answers: readonly RecordedResult[];
  readonly #modules: readonly ModuleMeta[];
  /** The messages of the calls that only the host can answer. */
  readonly needed = new Set<string>();

  constructor(answers: readonly RecordedResult[], modules: readonly ModuleMeta[]) {
    super({ write: () => undefined, handlers: {}, events: {} });
    this.#answers = answers;
    this.#modules = modules;
  }

  /**
   * Answers a call from the record.
   *
   * @throws TsaltError `needs-host`, `not-available`
   */
  override async request<T>(method: string, params: unknown): Promise<T> {
    if (method !== 'call') throw this.#needs(`The request '${method}'`);
    const { fun, args, kwargs } = params as CallParams;
    const found = this.#answers.find(one => isAnswerTo(one, fun, args, kwargs));
    if (found) return { value: found.value, retcode: 0 } as T;
    const own = computed[fun]?.(args.map(String));
    if (own !== undefined && this.#isBuiltIn(fun)) return { value: own, retcode: 0 } as T;
    if (!this.#isKnown(fun))
      throw new TsaltError('not-available', `'${fun}' is not available.`, { kind: 'function' });
    throw this.#needs(`'${fun}'`, `- ${JSON.stringify({ fun, args, kwargs, value: '…' })}`);
  }

  #needs(what: string, entry?: string): TsaltError {
    const message = `${what} needs the host`;
    this.needed.add(message);
    return new TsaltError('needs-host', message, {
      kind: 'render',
      hint: entry && `--answers FILE can have its result: ${entry}`,
    });
  }

  #isBuiltIn(fun: string): boolean {
    const module = fun.slice(0, fun.indexOf('.'));
    return !this.#modules.some(
      one => !one.builtin && one.kind === 'exec' && mayBeCalled(one, module),
    );
  }

  /**
   * Whether the function may exist: user modules may make functions that their sources do not show.
   */
  #isKnown(fun: string): boolean {
    const dot = fun.indexOf('.');
    const [module, name] = [fun.slice(0, dot), fun.slice(dot + 1)];
    return this.#modules.some(
      one =>
        one.kind === 'exec' &&
        mayBeCalled(one, module) &&
        (one.dynamic === true || one.functions.some(item => item.name === name)),
    );
  }
}

/** Functions that use only their arguments, on any host. */
const computed: Readonly<Record<string, (args: readonly string[]) => string | undefined>> = {
  'file.basename': ([path]) => path?.slice(path.lastIndexOf('/') + 1),
  'file.dirname': ([path]) => {
    const head = path?.slice(0, path.lastIndexOf('/') + 1);
    return head === undefined || /^\/*$/.test(head) ? head : head.replace(/\/+$/, '');
  },
  'file.join': ([first = '', ...more]) =>
    more.reduce(
      (path, part) =>
        part.startsWith('/')
          ? part
          : path === '' || path.endsWith('/')
            ? path + part
            : `${path}/${part}`,
      first,
    ),
};

const isAnswerTo = (
  answer: RecordedResult,
  fun: string,
  args: readonly Plain[],
  kwargs: PlainDict,
): boolean =>
  answer.fun === fun &&
  (answer.args === undefined || isSame(answer.args, args)) &&
  (answer.kwargs === undefined || isSame(answer.kwargs, kwargs));

const isSame = (left: unknown, right: unknown): boolean =>
  JSON.stringify(left) === JSON.stringify(right);
