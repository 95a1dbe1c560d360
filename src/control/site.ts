import { compilePillar, pillarFailure } from '../compiler/pillar.ts';
import type { Request } from '../config/request.ts';
import { splitFunctionName } from '../data/function-name.ts';
import { mergeRecursive } from '../data/merge.ts';
import type { SlsLoader } from '../data/sls.ts';
import {
  type Data,
  type Dict,
  isDict,
  setOwn,
  toData,
  toDict,
  toPlain,
  toPlainDict,
} from '../data/value.ts';
import { FileRoots } from '../fileserver/file-roots.ts';
import type { Artifact } from '../protocol/artifact.ts';
import { TsaltError } from '../protocol/error.ts';
import type { RunEvent } from '../protocol/event.ts';
import type { Host } from '../protocol/host.ts';
import type {
  CallParams,
  CallResult,
  ControlMethods,
  HostOpts,
  RunParams,
  RunResult,
  StateFinished,
} from '../protocol/job.ts';
import type { LowChunk } from '../protocol/low.ts';
import type { Handler, Peer } from '../protocol/peer.ts';
import type { Plain, PlainDict } from '../protocol/plain.ts';
import type { StateResults } from '../protocol/result.ts';
import { customRenderers } from '../render/custom.ts';
import { render, renderText } from '../render/render.ts';
import type { RenderContext } from '../render/types.ts';
import { matches } from '../targeting/match.ts';
import type { NodeSource } from '../transport/node-source.ts';
import type {
  PillarSettings,
  RunOutcome,
  RunSettings,
  StateAnswer,
  WrapperContext,
} from '../wrapper/context.ts';
import { callWrapper } from '../wrapper/define.ts';
import { pillarSettingsOf } from '../wrapper/pillar-settings.ts';
import { findWrapper, isControlFunction } from '../wrapper/table.ts';
import { checkChunks } from './check-chunks.ts';
import { extPillar } from './ext-pillar.ts';
import { FileRefs, fileHandlers, type TemplateRenderer } from './file-requests.ts';
import { hostOpts, runOpts, templateOpts } from './host-opts.ts';
import { noOwnModules, type OwnModules } from './own-modules.ts';
import { NeedsHost, prefetch } from './prefetch.ts';
import { renderSettings, slsLoader } from './sls-loader.ts';

/** What all hosts of one run share. */
export type Shared = {
  readonly request: Request;
  readonly artifact: () => Promise<Artifact>;
  /** Modules of the user's for the control node's own work. */
  readonly ownModules: () => Promise<OwnModules>;
  readonly fileRoots: FileRoots;
  readonly pillarRoots: FileRoots;
  readonly emit: (event: RunEvent) => void;
  readonly nodeSource: NodeSource;
};

/**
 * One host's run on the control side: its grains, pillar and options, what it may ask for, and
 * what functions of the control node and templates work with. Built before the host answers;
 * `greet` gives it the grains and the wire.
 */
export class Site {
  readonly host: Host;
  readonly opts: HostOpts;
  readonly refs = new FileRefs();
  readonly states: StateResults = {};
  retcode = 0;
  /** Stands where the states of a template's own `state.*` call go: they are no part of the run. */
  #aside: StateResults | undefined;
  /** Set by `state.*`: results by tag, or what did not compile and where. */
  answer: StateAnswer | undefined;
  readonly #shared: Shared;
  readonly #refuse: (error: TsaltError) => void;
  #grains: Dict = new Map();
  #peer: Peer | undefined;
  #onGreeted: () => void = () => undefined;
  readonly #greeted = new Promise<void>(resolve => {
    this.#onGreeted = resolve;
  });
  #pillar: Promise<Dict> | undefined;
  #pillarSettings: PillarSettings;
  /** Resolves when the hosts that are on their way together may be changed. */
  readonly #ready: () => Promise<void>;

  constructor(
    shared: Shared,
    host: Host,
    refuse: (error: TsaltError) => void,
    ready: () => Promise<void> = () => Promise.resolve(),
  ) {
    this.#shared = shared;
    this.#ready = ready;
    this.#refuse = refuse;
    this.host = host;
    const { config, options } = shared.request;
    this.opts = hostOpts(config, host, { test: options.test || config.test });
    this.#pillarSettings = pillarSettings(shared.request);
    this.refs.add(toPlain(shared.request.config.options.get('extra_filerefs') ?? null));
  }

  /** The host answered: its own grains, those of roster and configuration over them. */
  greet(grains: PlainDict, peer: Peer): void {
    this.#learnGrains(grains);
    this.#peer = peer;
    this.#onGreeted();
  }

  #learnGrains(grains: PlainDict): void {
    this.#grains = toDict({ ...grains, ...(this.opts.grains as PlainDict), id: this.host.id });
  }

  get grains(): Dict {
    return this.#grains;
  }

  /** The requests this host may make. */
  handlers(): Record<string, Handler> {
    const handlers: Record<string, Handler> = {
      ...fileHandlers({
        roots: this.#shared.fileRoots,
        refs: this.refs,
        render: this.#template,
        refuse: this.#refuse,
      }),
      'control.grains': async ({ grains }: ControlMethods['control.grains']) => {
        this.#learnGrains(grains);
        return null;
      },
      'control.call': async ({ fun, args, kwargs }: ControlMethods['control.call']) => {
        const found = isControlFunction(fun) ? findWrapper(fun) : undefined;
        if (!found)
          throw new TsaltError('wire-method', `'${fun}' is not available.`, { kind: 'host' });
        const value = await callWrapper(
          fun,
          found,
          this.#contextForHost(),
          args.map(toData),
          toDict(kwargs),
        );
        return toPlain(value);
      },
    };
    // A job that travelled ahead may ask in the same packet as hello: its grains come first.
    return Object.fromEntries(
      Object.entries(handlers).map(([method, handle]): [string, Handler] => [
        method,
        async (params, peer) => {
          await this.#greeted;
          return handle(params, peer);
        },
      ]),
    );
  }

  /** A state finished on the host; false when it belongs to what a template called. */
  finished({ tag, result }: StateFinished): boolean {
    setOwn(this.#aside ?? this.states, tag, result);
    return this.#aside === undefined;
  }

  /** Whether states that start now are the run's own. */
  get isOwnRun(): boolean {
    return this.#aside === undefined;
  }

  /** This run's pillar, compiled once. */
  pillar = (): Promise<Dict> => {
    this.#pillar ??= this.compilePillar(this.#pillarSettings);
    return this.#pillar;
  };

  /** Compiles this run's pillar anew: templates and lookups from now on see the new one. */
  refreshPillar = async (): Promise<void> => {
    this.#shared.pillarRoots.refresh();
    const fresh = await this.compilePillar(this.#pillarSettings);
    this.#pillar = Promise.resolve(fresh);
  };

  /** Compiles the pillar; throws kind `pillar` with every error of it. */
  compilePillar = async (settings: PillarSettings): Promise<Dict> => {
    const { config } = this.#shared.request;
    const { pillarRoots } = this.#shared;
    const pillar = settings.override ?? new Map();
    const loaderWith = (seen: Dict): SlsLoader =>
      slsLoader(
        pillarRoots,
        saltenv => ({ ...this.#renderContext(seen, saltenv), files: pillarRoots }),
        { ...renderSettings(config), renderers: customRenderers(this.#shared.fileRoots) },
      );
    const { pillar: compiled, problems } = await compilePillar({
      // As in Salt, a pillar file sees no part of the pillar that is being made, nor what the
      // command line lays over it.
      loader: loaderWith(new Map()),
      loaderWith,
      subject: {
        id: this.host.id,
        grains: this.#grains,
        pillar,
        nodegroups: config.nodegroups,
        matchers: this.#own.matchers,
      },
      options: {
        stateTop: config.state_top,
        pillarenv: settings.pillarenv ?? config.pillarenv,
        saltenv: settings.saltenv ?? config.saltenv,
        merge: {
          strategy: config.pillar_source_merging_strategy,
          renderer: config.renderer,
          mergeLists: config.pillar_merge_lists,
        },
        includesOverride: config.pillar_includes_override_sls,
        safeRenderError: config.options.get('pillar_safe_render_error') !== false,
        extFirst: config.ext_pillar_first,
      },
      ...(settings.override ? { override: settings.override } : {}),
      ext: config.ext_pillar.flatMap(source =>
        Object.keys(source).map(name => ({
          name,
          fetch: (below: Dict) => this.#ext([{ [name]: source[name] ?? null }], below),
        })),
      ),
    });
    if (config.options.get('pillar_opts') === true) addMaster(compiled, config.options);
    if (problems.length > 0) throw pillarFailure(problems, compiled);
    return compiled;
  };

  /** Calls an execution function on the host; `early` is the wire before the host has greeted. */
  callHost = async (
    fun: string,
    args: readonly Plain[],
    kwargs: PlainDict,
    early?: Peer,
  ): Promise<CallResult> => {
    this.refs.add([...args, kwargs]);
    const { opts } = this;
    const params: CallParams = {
      fun,
      args,
      kwargs,
      opts,
      ...(early ? {} : await this.#pillarForModules()),
    };
    return (early ?? this.#need()).request<CallResult>('call', params);
  };

  /** Calls a function wherever it lives. */
  call = async (fun: string, args: readonly Data[], kwargs: Dict): Promise<Data> => {
    const wrapper = await this.wrapper(fun);
    if (wrapper) return callWrapper(fun, wrapper, this.#quietContext(), args, kwargs);
    const { value } = await this.callHost(fun, args.map(toPlain), toPlainDict(kwargs));
    return toData(value);
  };

  /** The control node's function of this name, unless a module of the user's replaces it. */
  wrapper = async (fun: string): Promise<ReturnType<typeof findWrapper>> => {
    const found = findWrapper(fun);
    if (!found) return undefined;
    const { modules } = await this.#shared.artifact();
    const [name] = splitFunctionName(fun);
    return modules.some(
      item => !item.builtin && item.kind === 'exec' && (item.virtualname ?? item.file) === name,
    )
      ? undefined
      : found;
  };

  /** Runs low chunks on the host. */
  run = async (chunks: readonly LowChunk[], settings: RunSettings): Promise<RunOutcome> => {
    this.#pillar = Promise.resolve(settings.pillar);
    this.#pillarSettings = settings.pillarSettings ?? this.#pillarSettings;
    const params = await this.#runParams(chunks, settings);
    await this.#ready();
    this.#shared.emit({ type: 'plan', host: this.host.id, total: chunks.length });
    this.#shared.emit({ type: 'phase', host: this.host.id, phase: 'run' });
    const { retcode } = await this.#send(params);
    this.retcode = retcode;
    return { states: this.states, retcode };
  };

  /** Runs what a template's `state.*` call asks for: no event tells of it, the run is not its. */
  #runAside = async (chunks: readonly LowChunk[], settings: RunSettings): Promise<RunOutcome> => {
    const [states, before] = [{}, this.#aside];
    this.#aside = states;
    try {
      const { retcode } = await this.#send(await this.#runParams(chunks, settings));
      return { states, retcode };
    } finally {
      this.#aside = before;
    }
  };

  async #runParams(chunks: readonly LowChunk[], settings: RunSettings): Promise<RunParams> {
    checkChunks(chunks, this.#modules);
    this.refs.addChunks(chunks, settings.pillar);
    return {
      chunks,
      fun: this.#shared.request.fun,
      opts: {
        ...this.opts,
        ...runOpts(settings.opts ?? new Map()),
        test: settings.test,
        saltenv: settings.saltenv,
      },
      queue: settings.queue ?? false,
      concurrent: settings.concurrent ?? false,
      prefetch: await prefetch(chunks, this.#shared.fileRoots, this.#templateAhead),
      ...(await this.#pillarForModules()),
    };
  }

  async #send(params: RunParams): Promise<{ retcode: number }> {
    const { retcode, aborted } = await this.#need().request<RunResult>('run', params);
    if (aborted !== undefined) throw new TsaltError('run-aborted', aborted, { kind: 'host' });
    return { retcode };
  }

  /** As `context`, for calls inside of templates and by the host: they are not the run itself. */
  #quietContext(): WrapperContext {
    return {
      ...this.context(),
      run: this.#runAside,
      setRetcode: () => undefined,
      answer: () => undefined,
    };
  }

  /** What functions of the control node work with. */
  context(): WrapperContext {
    const { request, fileRoots, pillarRoots, emit } = this.#shared;
    const { config } = request;
    const opts = new Map(this.#templateOpts());
    return {
      id: this.host.id,
      grains: this.#grains,
      opts,
      masterOpts: config.options,
      config,
      nodegroups: config.nodegroups,
      matchers: this.#own.matchers,
      pillar: this.pillar,
      compilePillar: this.compilePillar,
      refreshPillar: this.refreshPillar,
      extPillar: async settings => this.#ext([toPlain(settings) as PlainDict], await this.pillar()),
      pillarFileExists: (path, saltenv) => pillarRoots.find(path, saltenv) !== undefined,
      files: {
        envs: () => fileRoots.envs(),
        list: saltenv => fileRoots.list(saltenv),
        listDirs: saltenv => fileRoots.listDirs(saltenv),
        listSymlinks: saltenv => fileRoots.listSymlinks(saltenv),
        listStates: saltenv => fileRoots.listStates(saltenv),
        exists: (path, saltenv, kind) =>
          kind === 'file'
            ? fileRoots.find(path, saltenv) !== undefined
            : fileRoots
                .listDirs(saltenv)
                .includes(path.replace(/^salt:\/\//, '').replace(/\/$/, '')),
      },
      readFile: async (path, saltenv = 'base') =>
        fileRoots.find(path, saltenv) ? fileRoots.read(path, saltenv) : undefined,
      renderAny: async ({ path, text, pipe, extra }) => {
        const source = text ?? (path === undefined ? '' : fileRoots.read(path, 'base'));
        const context = { ...this.#renderContext(await this.pillar(), 'base'), extra };
        return render({
          ...renderSettings(config),
          text: source,
          file: path ?? 'string',
          pipe,
          saltenv: 'base',
          context,
        });
      },
      loader: pillar =>
        slsLoader(
          fileRoots,
          saltenv => this.#renderContext(pillar, saltenv),
          renderSettings(config),
        ),
      renderSls: (text, name, pillar) =>
        render({
          text,
          file: name,
          sls: name,
          ...renderSettings(config),
          saltenv: 'base',
          context: this.#renderContext(pillar, 'base'),
        }),
      call: this.call,
      run: this.run,
      modules: this.#modules,
      log: (level, module, message) =>
        emit({ type: 'log', host: this.host.id, level, module, message }),
      setRetcode: code => {
        this.retcode = code;
      },
      answer: answer => {
        this.answer = answer;
      },
      test: this.opts.test,
    };
  }

  /**
   * The same for calls that come from the host: it does not choose how its pillar is compiled,
   * and options of the control node stay here.
   */
  #contextForHost(): WrapperContext {
    const refuse = async (): Promise<never> => {
      throw new TsaltError(
        'pillar-refused',
        'A host cannot have its pillar compiled with other settings.',
        { kind: 'host', hint: 'Give pillar= and pillarenv= on the command line.' },
      );
    };
    return {
      ...this.#quietContext(),
      masterOpts: new Map(),
      compilePillar: settings =>
        Object.keys(settings).length === 0 ? this.compilePillar({}) : refuse(),
      extPillar: refuse,
      call: refuse,
      run: refuse,
    };
  }

  #modules: WrapperContext['modules'] = [];
  #own = noOwnModules;
  /** Learns the artifact's modules, for docs and argument checks, and those of the control node. */
  learn(artifact: Artifact, own: OwnModules): void {
    this.#modules = artifact.modules;
    this.#own = own;
  }

  #need(): Peer {
    if (this.#peer) return this.#peer;
    throw new TsaltError('no-session', `${this.host.id} is not connected yet.`, {
      kind: 'internal',
    });
  }

  #optsOfTemplates: Dict | undefined;
  /** Made once: a run may render hundreds of templates. */
  #templateOpts(): Dict {
    this.#optsOfTemplates ??= templateOpts(this.#shared.request.config, this.opts);
    return this.#optsOfTemplates;
  }

  #renderContext(pillar: Dict, saltenv: string): RenderContext {
    return {
      grains: this.#grains,
      pillar,
      opts: new Map([...this.#templateOpts(), ['saltenv', saltenv]]),
      files: this.#shared.fileRoots,
      call: this.call,
    };
  }

  #ext = async (sources: readonly PlainDict[], pillar: Dict): Promise<Dict> => {
    const { config } = this.#shared.request;
    const results = await extPillar(sources, {
      id: this.host.id,
      pillar,
      grains: this.#grains,
      dir: config.dir,
      nodegroups: () =>
        Object.keys(config.nodegroups).filter(name =>
          matches(name, 'nodegroup', {
            id: this.host.id,
            grains: this.#grains,
            pillar,
            nodegroups: config.nodegroups,
          }),
        ),
      own: this.#own.sources,
    });
    return new Map(results.flatMap(({ data }) => [...data]));
  };

  #template: TemplateRenderer = (request, text, file, trust) =>
    trust === 'confined'
      ? this.#renderConfined(request, text, file)
      : this.#renderTemplate(request, text, file, { call: this.call });

  #templateAhead: TemplateRenderer = (request, text, file) =>
    this.#renderTemplate(request, text, file, {
      call: async (fun, args, kwargs) => {
        if (await this.wrapper(fun)) return this.call(fun, args, kwargs);
        throw new NeedsHost(fun);
      },
    });

  /** Renders a text that came from the host: it learns nothing that the host could not ask for. */
  #renderConfined = (request: ControlMethods['file.render'], text: string, file: string) =>
    this.#renderTemplate(request, text, file, {
      files: new FileRoots({}),
      opts: toDict({ ...this.opts, saltenv: request.saltenv }),
      call: async (fun, args, kwargs) => {
        const found = isControlFunction(fun) ? await this.wrapper(fun) : undefined;
        if (found) return callWrapper(fun, found, this.#contextForHost(), args, kwargs);
        if (await this.wrapper(fun))
          throw new TsaltError('template-refused', `'${fun}' is not for a template of the host.`, {
            kind: 'host',
            hint: 'Put the template into the file roots and name it as salt:// source.',
          });
        return this.call(fun, args, kwargs);
      },
    });

  async #renderTemplate(
    request: ControlMethods['file.render'],
    text: string,
    file: string,
    own: Pick<RenderContext, 'call'> & Partial<RenderContext>,
  ): Promise<string> {
    const base = this.#renderContext(await this.pillar(), request.saltenv);
    return renderText({
      ...renderSettings(this.#shared.request.config),
      text,
      file,
      pipe: request.template,
      saltenv: request.saltenv,
      context: {
        ...base,
        ...own,
        extra: new Map([...toDict(request.chunk), ...toDict(request.context)]),
      },
    });
  }

  /** Does a module of the user's read the pillar on the host? */
  async needsPillar(): Promise<boolean> {
    const { modules } = await this.#shared.artifact();
    return modules.some(item => item.usesPillar && !item.builtin);
  }

  async #pillarForModules(): Promise<{ pillar?: PlainDict }> {
    return (await this.needsPillar()) ? { pillar: toPlainDict(await this.pillar()) } : {};
  }

  /**
   * Renders a line of no meaning: what the renderers need is loaded and made then. Only where the
   * pipe is the usual one, and by built-in renderers: one of the user's is not run for nothing.
   */
  async warmUp(): Promise<void> {
    const { config } = this.#shared.request;
    if (config.renderer !== 'liquid|yaml') return;
    await render({
      ...renderSettings(config),
      text: 'a: {{ 1 }}\n',
      file: 'warm-up',
      renderers: new Map(),
      saltenv: 'base',
      context: this.#renderContext(new Map(), 'base'),
    }).catch(() => undefined);
  }
}

/** What the command line says about the pillar. */
const pillarSettings = ({ config, kwargs }: Request): PillarSettings =>
  pillarSettingsOf(kwargs, config.options);

/** `pillar_opts`: templates find tsalt.yaml under `master`, as in Salt. */
const addMaster = (pillar: Dict, options: Dict): void => {
  const own = new Map([...options].filter(([key]) => key !== 'grains'));
  const given = pillar.get('master');
  pillar.set('master', isDict(given) ? mergeRecursive(own, given, false) : own);
};
