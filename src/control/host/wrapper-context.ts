import { type Dict, toData, toDict, toPlain } from '../../data/values/value.ts';
import { FileRoots, statesAmong } from '../../fileserver/file-roots.ts';
import { TsaltError } from '../../protocol/error.ts';
import type { PlainDict } from '../../protocol/plain.ts';
import { render, renderValue } from '../../render/render.ts';
import { choiceError } from '../../render/taint/choice-error.ts';
import { taintAll } from '../../render/taint/format-check.ts';
import type { RenderContext } from '../../render/types.ts';
import type { FileListing, OrchestrationView, WrapperContext } from '../../wrapper/context.ts';
import type { HostFacts } from '../facts/host-facts.ts';
import { renderSettings, slsLoader } from '../facts/sls-loader.ts';
import type { HostPillar } from '../pillar/host-pillar.ts';
import type { FileRefs } from '../serve/file-refs.ts';
import type { HostCalls } from '../serve/host-calls.ts';
import type { HostTemplates } from '../serve/host-templates.ts';
import type { HostStates } from './host-states.ts';

/** The parts of one host that functions of the control node use. */
export type ContextParts = {
  readonly facts: HostFacts;
  readonly pillar: Pick<HostPillar, 'get' | 'compile' | 'refresh' | 'withSource'> & {
    /** The pillar compiled so far, for calls from a pillar file. */
    readonly seen?: Dict;
  };
  readonly calls: HostCalls;
  readonly states: HostStates;
  readonly templates: HostTemplates;
};

/**
 * The pillar for functions that a pillar file calls: the same that the file itself sees. Compiling
 * it there would call the same functions, without end.
 */
export const pillarForSls = ({ withSource }: HostPillar, seen: Dict): ContextParts['pillar'] => ({
  seen,
  get: async () => seen,
  compile: async () => seen,
  refresh: async () => undefined,
  withSource: source => withSource(source, seen),
});

/** The context of the run's own function. */
export const runContext = (parts: ContextParts): WrapperContext => {
  const { facts, pillar, calls, states } = parts;
  const { host, shared } = facts;
  const { request, fileRoots, pillarRoots, emit } = shared;
  const { config } = request;
  return {
    id: host.id,
    grains: facts.grains,
    opts: new Map(facts.templateOpts),
    masterOpts: config.options,
    sdb: request.sdb,
    config,
    nodegroups: config.nodegroups,
    matchers: facts.own.matchers,
    pillar: pillar.get,
    compilePillar: pillar.compile,
    refreshPillar: pillar.refresh,
    extPillar: settings => pillar.withSource(toPlain(settings) as PlainDict),
    pillarFileExists: (path, saltenv) => pillarRoots.find(path, saltenv) !== undefined,
    files: listing(fileRoots),
    readFile: async (path, saltenv = 'base') =>
      fileRoots.find(path, saltenv) ? fileRoots.read(path, saltenv) : undefined,
    ...rendering(parts),
    call: pillar.seen ? calls.callSeeing(pillar.seen) : calls.call,
    available: calls.available,
    run: states.run,
    predict: states.runAside,
    askHosts: askHosts(facts, pillar.seen !== undefined),
    orchestration: orchestrationOf(facts),
    selection: shared.request.options.selection,
    modules: facts.modules,
    log: (level, module, message) => emit({ type: 'log', host: host.id, level, module, message }),
    test: facts.opts.test,
  };
};

const askHosts = (
  { shared, host, taint }: HostFacts,
  isEarly: boolean,
): WrapperContext['askHosts'] => {
  const { mine } = shared;
  if (!mine) return undefined;
  return async question => {
    const { tgt, tgt_type, fun } = question;
    // The function is one of a list that the user wrote.
    for (const text of [tgt, tgt_type].flat()) {
      const chosen = taint.of(text);
      if (chosen) throw choiceError(host.id, chosen, `the host ${JSON.stringify(text)}`);
    }
    const answers = await mine.ask({ ...question, asker: host.id, isEarly });
    return new Map(
      [...answers].map(([id, answer]) => {
        taint.hear(answer, `${fun} of ${id}`);
        return [id, toData(answer)];
      }),
    );
  };
};

/** The returns of steps, tainted by the hosts that sent them. */
const orchestrationOf = ({ shared, host, taint }: HostFacts): OrchestrationView | undefined => {
  const { conductor, request } = shared;
  const steps = conductor ?? request.steps;
  if (!steps) return undefined;
  return {
    isTest: steps.isTest,
    returns: id => {
      const returns = steps.of(id);
      // For a plan, earlier steps have only predicted what they will return.
      if (!returns || request.options.plan === true) steps.missed(host.id, id);
      if (!returns) return undefined;
      for (const [from, { ret }] of Object.entries(returns)) {
        const source = `result of '${id}' on ${from}`;
        taint.hear(ret, source);
        conductor?.hear(ret, source);
      }
      return new Map(Object.entries(returns).map(([from, { ret }]) => [from, toData(ret)]));
    },
    ...(conductor ? { conducts: conductor } : {}),
  };
};

/** The context of calls from templates and from the host: they are not the run itself. */
export const quietContext = (parts: ContextParts): WrapperContext => ({
  ...runContext(parts),
  available: undefined,
  run: parts.states.runAside,
});

/**
 * The context of calls from the host. The host cannot choose how its pillar is compiled, lists only
 * files that its job names, and sees no option or path of the control node.
 */
export const contextForHost = (parts: ContextParts, refs: FileRefs): WrapperContext => ({
  ...quietContext(parts),
  opts: optsForHost(parts.facts),
  masterOpts: new Map(),
  files: listingFor(refs, parts.facts.shared.fileRoots),
  compilePillar: refuse,
  extPillar: refuse,
  call: refuse,
  run: refuse,
  predict: refuse,
});

const refuse = async (): Promise<never> => {
  throw new TsaltError(
    'pillar-refused',
    'A host cannot have its pillar compiled with other settings.',
    { kind: 'host', hint: 'Pass pillar= and pillarenv= on the command line.' },
  );
};

/** The options that the host already has, and those that functions of the pillar obey. */
const optsForHost = ({ opts, shared }: HostFacts): Dict =>
  toDict({ ...opts, pillar_raise_on_missing: shared.request.config.pillar_raise_on_missing });

/** The parts of the file roots that the job names. Only strings of the job are looked up. */
const listingFor = (refs: FileRefs, roots: FileRoots): FileListing => {
  const allowed = (paths: readonly string[], saltenv: string): string[] =>
    paths.filter(path => refs.allows(path, saltenv));
  const list = (saltenv: string): string[] =>
    refs.allowsEnv(saltenv) ? allowed(roots.list(saltenv), saltenv) : [];
  return {
    ...listing(roots),
    list,
    listDirs: saltenv => (refs.allowsEnv(saltenv) ? allowed(roots.listDirs(saltenv), saltenv) : []),
    listSymlinks: saltenv =>
      new Map(
        refs.allowsEnv(saltenv)
          ? [...roots.listSymlinks(saltenv)].filter(([path]) => refs.allows(path, saltenv))
          : [],
      ),
    listStates: saltenv => statesAmong(list(saltenv)),
  };
};

const listing = (roots: FileRoots): FileListing => ({
  envs: () => roots.envs(),
  list: saltenv => roots.list(saltenv),
  listDirs: saltenv => roots.listDirs(saltenv),
  listSymlinks: saltenv => roots.listSymlinks(saltenv),
  listStates: saltenv => roots.listStates(saltenv),
  exists: (path, saltenv, kind) =>
    kind === 'file'
      ? roots.find(path, saltenv) !== undefined
      : roots.listDirs(saltenv).includes(path.replace(/^salt:\/\//, '').replace(/\/$/, '')),
});

/** Confines a text that the host sent: it sees no file and calls only functions of the host. */
const confinedTo = (calls: HostCalls, context: RenderContext): RenderContext => {
  const { taint: _, said: __, ...rest } = context;
  return {
    ...rest,
    files: new FileRoots({}),
    call: async (fun, args, kwargs) => {
      if ((await calls.wrapper(fun)) === undefined) return calls.call(fun, args, kwargs);
      throw new TsaltError('template-refused', `'${fun}' is not available to a text of the host.`, {
        kind: 'render',
        hint: 'Put the template into the file roots.',
      });
    },
  };
};

const rendering = ({
  facts,
  pillar,
  calls,
  templates,
}: ContextParts): Pick<WrapperContext, 'renderAny' | 'loader' | 'renderSls'> => {
  const { request, fileRoots } = facts.shared;
  const settings = renderSettings(request.config);
  return {
    renderAny: async given => {
      const { path, text, pipe, extra } = given;
      const { taint } = facts;
      const chosen = pipe === undefined ? undefined : taint.of(pipe);
      if (chosen) throw choiceError(taint.owner, chosen, `the renderer ${JSON.stringify(pipe)}`);
      const context = { ...templates.context(await pillar.get(), 'base'), extra };
      const sent = text === undefined ? undefined : taint.of(text);
      const request = {
        ...settings,
        text: text ?? (path === undefined ? '' : fileRoots.read(path, 'base')),
        file: path ?? 'string',
        pipe,
        // A text that the host sent does not choose how it is rendered.
        shebang: !sent && (text === undefined || path === undefined),
        saltenv: 'base',
      };
      if (!sent)
        return renderValue({
          ...request,
          origin: text === undefined ? ('user-file' as const) : undefined,
          context,
        });
      const data = await renderValue({ ...request, context: confinedTo(calls, context) });
      taintAll(data, sent[0].source, taint);
      return data;
    },
    loader: seen => slsLoader(fileRoots, saltenv => templates.context(seen, saltenv), settings),
    renderSls: (text, name, seen, origin) =>
      render({
        text,
        origin,
        file: name,
        sls: name,
        ...settings,
        saltenv: 'base',
        context: templates.context(seen, 'base'),
      }),
  };
};
