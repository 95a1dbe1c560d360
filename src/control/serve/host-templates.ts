import { isAbsolute, posix } from 'node:path';
import { type Data, type Dict, isDict, toDict } from '../../data/values/value.ts';
import { shownPath } from '../../fileserver/shown-path.ts';
import { type SourceLocation, showError, showLocation, TsaltError } from '../../protocol/error.ts';
import type { StateFinished } from '../../protocol/job.ts';
import type { PlainDict } from '../../protocol/plain.ts';
import type { PrefetchedRender } from '../../protocol/prefetch.ts';
import { mergeWholeFloats } from '../../protocol/whole-floats.ts';
import { packYielding } from '../../render/confined/pack-yielding.ts';
import { unpack } from '../../render/confined/wire.ts';
import { checkTextPipe, render, renderText } from '../../render/render.ts';
import type { RenderContext } from '../../render/types.ts';
import { isControlFunction } from '../../wrapper/table.ts';
import type { ServeTemplate } from '../apart/children.ts';
import type { HostWork } from '../apart/host-work.ts';
import type { HostFacts } from '../facts/host-facts.ts';
import { type RenderSettings, renderSettings } from '../facts/sls-loader.ts';
import type { HostPillar } from '../pillar/host-pillar.ts';
import { NeedsHost, type RenderAhead } from '../prepare/prefetch.ts';
import type { TemplateRenderer } from './file-requests.ts';
import type { HostCalls } from './host-calls.ts';
import type { HostFunctions } from './host-functions.ts';

/** Renders the template files that the states of one host name. */
export class HostTemplates {
  readonly #facts: HostFacts;
  readonly #pillar: HostPillar;
  readonly #calls: HostCalls;
  readonly #functions: HostFunctions;
  readonly #work: HostWork;
  readonly #settings: RenderSettings;
  /** The options that templates see, by saltenv. */
  readonly #opts = new Map<string, Dict>();
  /** What the host was told of faults in templates, and what people are shown instead. */
  readonly #faults = new Map<string, string>();

  constructor(
    facts: HostFacts,
    pillar: HostPillar,
    calls: HostCalls,
    { functions, work }: { readonly functions: HostFunctions; readonly work: HostWork },
  ) {
    this.#facts = facts;
    this.#pillar = pillar;
    this.#calls = calls;
    this.#functions = functions;
    this.#work = work;
    this.#settings = renderSettings(facts.shared.request.config);
  }

  context(
    pillar: Dict,
    saltenv: string,
    call: RenderContext['call'] = this.#calls.call,
    extra: Dict = new Map(),
  ): RenderContext {
    const { trace, yamlCache, isRepeated = false } = this.#facts.shared;
    // Made for each state that renders a template: merging objects takes longer than making one.
    return {
      onReads: trace?.reads,
      isOneOfMany: trace !== undefined || isRepeated,
      grains: this.#facts.grains,
      pillar,
      opts: this.#optsIn(saltenv),
      files: this.#facts.shared.fileRoots,
      extra,
      call,
      onlyLooks: this.#calls.onlyLooks,
      said: this.#facts.hasSaidWhole,
      taint: this.#facts.taint,
      yamlCache,
      livesHere: this.#livesHere,
    };
  }

  #livesHere = async (fun: string): Promise<boolean> =>
    (await this.#calls.wrapper(fun)) !== undefined;

  #optsIn(saltenv: string): Dict {
    const opts =
      this.#opts.get(saltenv) ?? new Map([...this.#facts.templateOpts, ['saltenv', saltenv]]);
    if (this.#opts.size < mostEnvs) this.#opts.set(saltenv, opts);
    return opts;
  }

  /** Renders a file for the host while its state runs. */
  render: TemplateRenderer = (request, text, file, trust) =>
    trust === 'confined'
      ? this.#renderConfined(request, text, file)
      : this.#render(request, text, file, this.#calls.call);

  /** Throws where the host asks for a template engine that does not exist. */
  check = ({ template, source, saltenv }: PrefetchedRender): void => {
    checkTextPipe({
      ...this.#settings,
      text: '',
      file: source,
      pipe: template,
      saltenv,
      context: this.context(new Map(), saltenv),
    });
  };

  /**
   * Renders a file before its state runs; throws `NeedsHost` if the template must call the host.
   */
  renderAhead: RenderAhead = (request, text, file) =>
    this.#render(request, text, file, this.#callAhead);

  #callAhead: RenderContext['call'] = async (fun, args, kwargs) => {
    if (await this.#calls.wrapper(fun)) return this.#calls.call(fun, args, kwargs);
    throw new NeedsHost(fun);
  };

  /**
   * Renders a trivial line, so that the renderers are loaded and initialized. Only with the usual
   * pipe and built-in renderers: a user's renderer is not run without need.
   */
  async warmUp(): Promise<void> {
    if (this.#settings.pipe !== 'liquid|yaml') return;
    await render({
      ...this.#settings,
      text: 'a: {{ 1 }}\n',
      file: 'warm-up',
      renderers: new Map(),
      saltenv: 'base',
      context: this.context(new Map(), 'base'),
    }).catch(() => undefined);
  }

  /**
   * Renders a text that came from the host, in another process. The result contains nothing that
   * the host could not request.
   */
  #renderConfined: TemplateRenderer = async (request, text, file) => {
    const { template, saltenv } = request;
    const { pipe: _, whitelist, blacklist } = this.#settings;
    const opts = { ...this.#facts.opts, saltenv, jinja_limits: limitsForHosts };
    try {
      return await this.#work.inTurn(async () => {
        const named = namedIn(text);
        const packedOr = async (name: string, value: () => Promise<Dict>): Promise<string> =>
          named(name) ? packedOnce(await value()) : packYielding({});
        return {
          type: 'render',
          text,
          file,
          pipe: template,
          saltenv,
          whitelist,
          blacklist,
          grains: await packedOr('grains', async () => this.#facts.grains),
          pillar: await packedOr('pillar', () => this.#pillar.get()),
          opts: await packYielding(opts),
          extra: await packYielding(
            mergeWholeFloats(request.chunk, withoutReserved(request.context)),
          ),
        };
      }, this.#serveConfined);
    } catch (error) {
      throw this.#toldHost(error, request, file);
    }
  };

  /** Answers a call of a template that is rendered in another process. */
  #serveConfined: ServeTemplate = async ([fun, packedArgs, packedKwargs]) => {
    const [args, kwargs] = [unpack(packedArgs), unpack(packedKwargs)];
    const list = Array.isArray(args) ? args : [];
    const result = await this.#forFiles(this.#callConfined)(
      fun,
      list,
      isDict(kwargs) ? kwargs : new Map(),
    );
    const argument = list.indexOf(result);
    return {
      value: await packYielding(result),
      ...(typeof result === 'object' && argument >= 0 ? { argument } : {}),
    };
  };

  #callConfined = async (fun: string, args: readonly Data[], kwargs: Dict): Promise<Data> => {
    const wrapper = await this.#calls.wrapper(fun);
    if (!wrapper) return this.#calls.callUnnamed(fun, args, kwargs);
    if (isControlFunction(fun)) return this.#functions.call(fun, args, kwargs);
    throw new TsaltError(
      'template-refused',
      `'${fun}' is not available to a template of the host.`,
      {
        kind: 'host',
        hint: 'Put the template into the file roots and name it as salt:// source.',
      },
    );
  };

  async #render(
    request: PrefetchedRender,
    text: string,
    file: string,
    call: RenderContext['call'],
  ): Promise<string> {
    const pillar = await this.#pillar.get();
    const extra = toDict(request.context, toDict(request.chunk));
    const rendered = renderText({
      ...this.#settings,
      text,
      file,
      pipe: request.template,
      saltenv: request.saltenv,
      // Text in the request is not a file: it is `contents`, or a file that the host read.
      origin: request.text === undefined ? 'user-file' : undefined,
      context: this.context(pillar, request.saltenv, this.#forFiles(call), extra),
    });
    return rendered.catch((error: unknown) => {
      throw this.#toldHost(error, request, file);
    });
  }

  #forFiles =
    (call: RenderContext['call']): RenderContext['call'] =>
    async (fun, args, kwargs) => {
      if (notInFiles.test(fun) && (await this.#calls.wrapper(fun))) throw notForFiles(fun);
      return call(fun, args, kwargs);
    };

  /**
   * Adds the full error of a template to a state's result: the host itself receives neither lines
   * of the file nor paths of the control node.
   */
  withFaults = (finished: StateFinished): StateFinished => {
    const { comment } = finished.result;
    if (this.#faults.size === 0 || typeof comment !== 'string') return finished;
    for (const [told, whole] of this.#faults)
      if (comment.includes(told))
        return {
          ...finished,
          result: { ...finished.result, comment: comment.replace(told, () => whole) },
        };
    return finished;
  };

  #toldHost(error: unknown, request: PrefetchedRender, file: string): unknown {
    if (!(error instanceof TsaltError) || error.at === undefined) return error;
    const { code, kind, message, at } = error;
    const own = request.text === undefined ? request.source : file;
    const name = at.file === file ? own : posix.basename(at.file);
    const told = `${message} (${showLocation({ ...at, file: name })})`;
    if (this.#faults.size < mostFaults) this.#faults.set(told, showError(shownAt(error, at)));
    return new TsaltError(code, told, { kind, cause: error });
  }
}

const mostFaults = 1000;

/** A host may name any number of saltenvs. */
const mostEnvs = 100;

/** Which variables a template can name: texts that hold no such name are not sent them. */
const namedIn = (text: string) => (name: string) =>
  text.includes(name) || text.includes('show_full_context') || /[{%:,|=(]\s*\[/.test(text);

const packs = new WeakMap<Dict, Promise<string>>();

/** Packs a dict once, since it does not change. */
const packedOnce = (dict: Dict): Promise<string> => {
  const made = packs.get(dict) ?? packYielding(dict);
  packs.set(dict, made);
  return made;
};

/** Limits of templates that a host sent, in addition to those of the process that renders them. */
const limitsForHosts = {
  milliseconds: 5000,
  steps: 200_000,
  characters: 8_000_000,
  depth: 50,
};

const shownAt = (
  { code, message, kind, hint, excerpt }: TsaltError,
  at: SourceLocation,
): TsaltError =>
  new TsaltError(code, message, {
    kind,
    hint,
    excerpt,
    at: { ...at, file: isAbsolute(at.file) ? shownPath(at.file) : at.file },
  });

/** Functions that run programs, open stores or choose engines: not for templates of file states. */
const notInFiles = /^(?:pillar\.ext|slsutil\.renderer|(?:sdb|vault)\.\w+)$/;

const notForFiles = (fun: string): TsaltError =>
  new TsaltError('template-refused', `'${fun}' is not available to templates of file states.`, {
    kind: 'render',
    hint: 'Call it in the pillar or in the SLS, and pass the value to the template by `context`.',
  });

/** Variables that the control node sets: a host's own template cannot replace them. */
const reserved =
  /^(?:grains|pillar|opts|salt|saltenv|env|sls|slspath|sls_path|slsdotpath|slscolonpath|tpl\w+|__\w+__)$/;

const withoutReserved = (context: PlainDict): PlainDict =>
  Object.fromEntries(Object.entries(context).filter(([name]) => !reserved.test(name)));
