import { setMaxListeners } from 'node:events';
import { buildArtifact, buildGrainsProgram } from '../../bundle/artifact.ts';
import { moduleFolders } from '../../config/module-dirs.ts';
import type { Request } from '../../config/request.ts';
import { optionsWithoutEffect } from '../../config/without-effect.ts';
import { brokenModules } from '../../data/signatures/module-docs.ts';
import { FileRoots } from '../../fileserver/file-roots.ts';
import { optimizeLater } from '../../memory/optimize-later.ts';
import type { Artifact } from '../../protocol/artifact.ts';
import { TsaltError } from '../../protocol/error.ts';
import type { RunEvent } from '../../protocol/event.ts';
import type { Host } from '../../protocol/host.ts';
import type { AppliedPlan } from '../../protocol/plan.ts';
import { boundedTest } from '../../render/filters/python-regex.ts';
import { keepTexts } from '../../render/share/share.ts';
import { tryRegExpsBy } from '../../targeting/python-regex.ts';
import { readMirrors } from '../../transport/node-mirror.ts';
import { readReleases } from '../../transport/node-release.ts';
import { nodeSource } from '../../transport/node-source.ts';
import { openTransport } from '../../transport/open-transport.ts';
import type { Transport } from '../../transport/transport.ts';
import { reportUnwritableCaches } from '../../trust/spare-cache.ts';
import { controlFunctions } from '../../wrapper/table.ts';
import { KeptHashes } from '../facts/kept-hashes.ts';
import { KeptYaml } from '../facts/kept-yaml.ts';
import type { Shared, SharedFiles } from '../facts/shared.ts';
import { loadUserModules, type UserModules } from '../facts/user-modules.ts';
import { KeptRuntimes } from '../host/kept-runtimes.ts';
import { transportOptions } from '../host/transport-options.ts';
import { checkCall, checkTestMode } from '../prepare/check-call.ts';
import { runInBatches } from './batches.ts';
import { boundGarbage } from './bound-garbage.ts';
import { HostMine } from './host-mine.ts';
import { type FleetParts, type HostRunner, HostRuns } from './host-runs.ts';
import { noTarget } from './no-target.ts';
import { Orchestration } from './orchestration.ts';
import { noRecord, openRecord } from './orchestration-record.ts';
import { closeUnless, isOrchestration, ownRequest } from './orchestration-request.ts';
import { pickTargets, unknownNames } from './targets.ts';
import { workerCount } from './worker-count.ts';
import type { WorkerRuns } from './worker-runs.ts';

/**
 * Runs a request on every host that matches, at most `maxProcs` at once, in batches if requested.
 * Results are events, in the order in which hosts finish, and are not kept. A failing host is a
 * result; only errors of the control node (no target, a wrong target expression) are thrown as
 * `TsaltError`.
 *
 * @param open opens the transport to the hosts
 * @param kept the connections and runtimes of a session, which outlive the run
 */
export const runFleet = async (
  request: Request,
  emit: (event: RunEvent) => void,
  signal: AbortSignal,
  open: typeof openTransport = openTransport,
  kept?: KeptRuntimes,
): Promise<void> => {
  const ended = reportUnwritableCaches(request.config.cachedir, message =>
    emit({ type: 'log', level: 'warning', module: 'cache', message }),
  );
  const work = isOrchestration(request)
    ? orchestrate(request, emit, signal, open, kept)
    : conduct(request, emit, signal, open, kept);
  await work.finally(ended);
};

/** Runs an orchestration on this machine; its steps share connections and runtimes of their hosts. */
const orchestrate = async (
  request: Request,
  emit: (event: RunEvent) => void,
  signal: AbortSignal,
  open: typeof openTransport,
  given: KeptRuntimes | undefined,
): Promise<void> => {
  const kept = given ?? new KeptRuntimes();
  const own = ownRequest(request);
  const { config, options } = request;
  const isTest =
    options.test === true || request.steps?.isTest === true || request.kwargs.get('test') === true;
  const warn = (message: string): void =>
    emit({ type: 'log', level: 'warning', module: 'orchestrate', message });
  const record =
    isTest || request.steps !== undefined
      ? noRecord
      : openRecord(config.cachedir, options.jid, options.resume, warn);
  const running = new Set<Promise<void>>();
  const orchestration = new Orchestration({
    request,
    emit,
    signal,
    isTest,
    record,
    modules: async () => (await shareRequest(request, emit).artifact()).modules,
    runHosts: (step, follow) => {
      const work = runFleet(step, follow, signal, open, kept);
      running.add(work);
      const ended = (): boolean => running.delete(work);
      work.then(ended, ended);
      return work;
    },
  });
  let isWell = false;
  const follow = (event: RunEvent): void => {
    if (event.type === 'state') orchestration.ended(event.tag, event.result);
    // After a part of the steps, the others can be run.
    if (event.type === 'host')
      isWell = event.result.retcode === 0 && !event.result.failure && !event.result.leftOut;
    emit(event);
  };
  try {
    await conduct(own, follow, signal, open, kept, orchestration);
  } finally {
    // An interrupted orchestration ends before the hosts of its steps do.
    await Promise.allSettled(running);
    if (record.close(isWell))
      warn(`The steps that finished are kept: --resume ${options.jid} runs the others.`);
    closeUnless(given, kept);
  }
};

const conduct = async (
  request: Request,
  emit: (event: RunEvent) => void,
  signal: AbortSignal,
  open: typeof openTransport,
  kept: KeptRuntimes | undefined,
  conductor?: Orchestration,
): Promise<void> => {
  tryRegExpsBy(boundedTest);
  const targets = pickTargets(request);
  const { hosts, undecided } = targets;
  if (hosts.length === 0) throw noTarget(request);
  const shared = {
    ...shareRequest(request, emit, kept?.files ? { before: kept.files } : {}),
    ...(kept ? { isRepeated: true } : {}),
    ...(conductor ? { conductor } : {}),
  };
  if (kept) kept.files = { fileRoots: shared.fileRoots, pillarRoots: shared.pillarRoots };
  for (const message of optionsWithoutEffect(request.config))
    emit({ type: 'log', level: 'warning', module: 'config', message });
  if (request.raw === undefined) await checkModules(request, shared);
  if (request.planned) await checkArtifact(request.planned, shared);
  for (const name of unknownNames(request))
    emit({
      type: 'log',
      level: 'warning',
      module: 'target',
      message: `The list names '${name}', which no roster has; it is left out.`,
    });
  emit({ type: 'start', hosts: hosts.map(({ id }) => id), fun: request.fun });
  boundGarbage(hosts.length);
  optimizeLater();
  // Every running host listens for the end of the run.
  setMaxListeners(0, signal);
  const count = kept || open !== openTransport ? 1 : workerCount(request, hosts.length);
  const hasElsewhere = hosts.some(({ via }) => via !== undefined);
  const { runs, close } =
    hasElsewhere || count > 1
      ? await runsOfWorkers({ shared, targets, signal }, hasElsewhere ? 1 : count)
      : runsHere({ shared, targets, signal, ...(kept ? { kept } : {}) }, open);
  let stopped: TsaltError | undefined;
  try {
    stopped = await runInBatches(runs, request, { shared, signal, targets });
  } finally {
    await close();
    await shared.yamlCache?.save();
    await shared.keptHashes?.save();
    emit({ type: 'end' });
    // Commands for a host's shell do not wait for the artifact.
    if (request.raw === undefined)
      await shared.artifact().then(({ codeCache }) => codeCache?.finish(signal), noArtifact);
  }
  if (stopped) throw stopped;
  if (runs.answered === 0 && undecided.size > 0 && !signal.aborted) throw noTarget(request);
};

/** Each host has reported why. */
const noArtifact = (): void => undefined;

type Runs = { readonly runs: HostRunner; readonly close: () => Promise<void> };

const runsHere = (parts: Omit<FleetParts, 'transport'>, open: typeof openTransport): Runs => {
  const { shared: given, kept, targets, signal } = parts;
  const { request, emit, conductor } = given;
  const transport = openOrKept(request, emit, open, kept);
  let elsewhere: Promise<WorkerRuns> | undefined;
  const askElsewhere = async (host: Host, question: Request) => {
    elsewhere ??= onlyAsks({ shared, targets, signal });
    return (await elsewhere).askHost(host, question);
  };
  const mine = new HostMine({
    request,
    emit,
    inRun: conductor ? request.hosts.filter(({ id }) => id !== request.target) : targets.hosts,
    check: (host, question) =>
      host.via === undefined ? runs.check(host, question) : askElsewhere(host, question),
  });
  const shared = { ...given, mine };
  const runs = new HostRuns({ shared, targets, signal, transport, ...(kept ? { kept } : {}) });
  return {
    runs,
    close: async () => {
      if (!kept) transport.close();
      await elsewhere?.then(
        opened => opened.close(),
        () => undefined,
      );
    },
  };
};

type WorkerParts = Omit<FleetParts, 'transport'>;

/** Asks hosts that queue workers reach, in a run that has none of them. */
const onlyAsks = (parts: WorkerParts): Promise<WorkerRuns> => {
  const { conductor: _, trace: __, ...shared } = parts.shared;
  const { raw, planned, steps, ...asking } = shared.request;
  const request = { ...asking, fun: 'mine.value', args: [], kwargs: new Map() };
  return openWorkers({ ...parts, shared: { ...shared, request } }, []);
};

const openWorkers = async (
  parts: WorkerParts,
  hosts: readonly Host[],
  count = 1,
): Promise<WorkerRuns> => {
  const { request, emit } = parts.shared;
  const { WorkerRuns } = await import('./worker-runs.ts');
  const { poolOfSegments } = await import('../workers/segments.ts');
  const warn = (message: string): void =>
    emit({ type: 'log', level: 'warning', module: 'queue', message });
  return new WorkerRuns(parts, await poolOfSegments(request, hosts, warn, count));
};

/** Runs hosts in `count` processes of this machine, and those with `via` by the workers of their segments. */
const runsOfWorkers = async (parts: WorkerParts, count: number): Promise<Runs> => {
  // Build it once, before the workers need it.
  if (count > 1) await parts.shared.artifact().catch(() => undefined);
  const runs = await openWorkers(parts, parts.targets.hosts, count);
  return { runs, close: () => runs.close() };
};

/** Checks, before any connection, for calls that cannot work and modules that are left out. */
const checkModules = async (
  { fun, args, kwargs, options }: Request,
  shared: Shared,
): Promise<void> => {
  const { modules } = await shared.artifact();
  if (options.dryRun) checkTestMode(fun, modules);
  checkCall(fun, args, kwargs, modules);
  for (const message of brokenModules(modules))
    shared.emit({ type: 'log', level: 'warning', module: 'loader', message });
};

/** Refuses a plan that was made with other modules: predictions and changes may differ. */
const checkArtifact = async (planned: AppliedPlan, shared: Shared): Promise<void> => {
  if ((await shared.artifact()).sha256 === planned.artifact) return;
  throw new TsaltError(
    'plan-artifact',
    'The plan was made with other modules: those that would run have changed since. No host was contacted.',
    { kind: 'drift', hint: 'Make a new plan: --plan-out.' },
  );
};

/**
 * Makes the parts that all hosts of a request share. Reads nothing from hosts.
 *
 * @param unsaved texts that replace files
 * @param before what did not change since then is neither read nor rendered again
 */
export const shareRequest = (
  request: Request,
  emit: Shared['emit'],
  { unsaved, before }: { unsaved?: ReadonlyMap<string, string>; before?: SharedFiles } = {},
): Shared => {
  const { config } = request;
  const rootsOptions = unsaved ? { ...config, unsaved } : config;
  const keptHashes = new KeptHashes(config.cachedir);
  const fileRoots = new FileRoots(
    config.file_roots,
    { ...rootsOptions, keptHashes },
    before?.fileRoots,
  );
  const pillarRoots = new FileRoots(config.pillar_roots, rootsOptions, before?.pillarRoots);
  if (before) {
    keepTexts(before.fileRoots, fileRoots);
    keepTexts(before.pillarRoots, pillarRoots);
  }
  const folders = moduleFolders(config);
  const artifact = buildArtifact({ ...folders, controlFunctions: controlFunctions() });
  // Every host awaits it and reports a failure itself, so it must not count as unhandled here.
  artifact.catch(() => undefined);
  let grainsProgram: Promise<Artifact> | undefined;
  let own: Promise<UserModules> | undefined;
  const log = (message: string): void =>
    emit({ type: 'log', level: 'info', module: 'node', message });
  return {
    request,
    emit,
    fileRoots,
    pillarRoots,
    artifact: () => artifact,
    grainsProgram: () => {
      grainsProgram ??= buildGrainsProgram(folders);
      return grainsProgram;
    },
    ownModules: () => {
      own ??= artifact.then(built => loadUserModules(config, built));
      return own;
    },
    yamlCache: new KeptYaml(config.cachedir),
    keptHashes,
    nodeSource: nodeSource({
      cacheDir: config.cachedir,
      mirrors: readMirrors(config.node_mirror),
      releases: readReleases(config.node_release),
      log,
    }),
  };
};

const openOrKept = (
  request: Request,
  emit: Shared['emit'],
  open: typeof openTransport,
  kept: KeptRuntimes | undefined,
): Transport => {
  if (!kept) return open(transportOptions(request, emit));
  kept.emit = emit;
  kept.transport ??= open(transportOptions(request, event => kept.emit(event)));
  return kept.transport;
};
