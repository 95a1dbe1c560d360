import { setMaxListeners } from 'node:events';
import pLimit from 'p-limit';
import { buildArtifact } from '../../bundle/artifact.ts';
import { modulePlaces } from '../../config/module-dirs.ts';
import type { Request } from '../../config/request.ts';
import { optionsWithoutEffect } from '../../config/without-effect.ts';
import { brokenModules } from '../../data/signatures/module-docs.ts';
import { FileRoots } from '../../fileserver/file-roots.ts';
import { showError, TsaltError } from '../../protocol/error.ts';
import type { HostResult, RunEvent } from '../../protocol/event.ts';
import type { Host } from '../../protocol/host.ts';
import { boundedTest } from '../../render/filters/python-regex.ts';
import { tryRegExpsBy } from '../../targeting/python-regex.ts';
import { readMirrors } from '../../transport/node-mirror.ts';
import { readReleases } from '../../transport/node-release.ts';
import { nodeSource } from '../../transport/node-source.ts';
import { openTransport } from '../../transport/open-transport.ts';
import type { Transport } from '../../transport/transport.ts';
import { reportUnwritableCaches } from '../../trust/spare-cache.ts';
import { controlFunctions } from '../../wrapper/table.ts';
import { type OwnModules, ownModules } from '../facts/own-modules.ts';
import type { Shared } from '../facts/shared.ts';
import type { Gate } from '../host/host-run.ts';
import type { KeptRuntimes } from '../host/kept-runtimes.ts';
import { pause } from '../host/pause.ts';
import { runHost } from '../host/run-host.ts';
import { sudoHint } from '../host/sudo-hint.ts';
import { transportOptions } from '../host/transport-options.ts';
import { checkCall, checkTestMode } from '../prepare/check-call.ts';
import { newBarrier } from './barrier.ts';
import { boundGarbage } from './bound-garbage.ts';
import { noTarget } from './no-target.ts';
import { pickTargets, unknownNames } from './targets.ts';
import { timeLimit } from './time-limit.ts';

/**
 * Runs a request on every host that matches: at most `maxProcs` at once, in batches when
 * asked. Results are events, in the order hosts finish, and are not kept. Throws `TsaltError` for faults of this side
 * only (no target, a bad target expression); a failing host is a result.
 *
 * @param open opens what connects to hosts
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
  await conduct(request, emit, signal, open, kept).finally(ended);
};

const conduct = async (
  request: Request,
  emit: (event: RunEvent) => void,
  signal: AbortSignal,
  open: typeof openTransport,
  kept: KeptRuntimes | undefined,
): Promise<void> => {
  tryRegExpsBy(boundedTest);
  const { hosts, isTarget } = pickTargets(request);
  if (hosts.length === 0) throw noTarget(request);
  const shared = shareRequest(request, emit);
  for (const message of optionsWithoutEffect(request.config))
    emit({ type: 'log', level: 'warning', module: 'config', message });
  for (const message of minesWithoutEffect(hosts))
    emit({ type: 'log', level: 'warning', module: 'roster', message });
  if (request.raw === undefined) await checkModules(request, shared);
  for (const name of unknownNames(request))
    emit({
      type: 'log',
      level: 'warning',
      module: 'target',
      message: `The list names '${name}', which no roster has; it is left out.`,
    });
  emit({ type: 'start', hosts: hosts.map(({ id }) => id), fun: request.fun });
  const transport = openOrKept(request, emit, open, kept);
  boundGarbage(hosts.length);
  // Every host in flight listens for the end of the run.
  setMaxListeners(0, signal);
  let answered = 0;
  let hasFailed = false;
  const spared: string[] = [];
  const one = async (host: Host, gate: Gate): Promise<void> => {
    if (signal.aborted) return;
    if (request.options.failhard && hasFailed) return void spared.push(host.id);
    const result = await prepareAndRun(host, gate);
    if (!result) return;
    answered += 1;
    hasFailed ||= failed(result);
    emit({ type: 'host', result });
  };
  const prepareAndRun = async (host: Host, gate: Gate): Promise<HostResult | undefined> => {
    const prepared = await request.prepareHost(host).catch((error: unknown) => error);
    if (prepared instanceof Error || !isHost(prepared)) return unprepared(host, request, prepared);
    const limit = timeLimit(signal, request.options.timeout);
    const result = await runHost({
      shared,
      transport,
      host: prepared,
      signal: limit.signal,
      gate,
      ...(kept ? { kept } : {}),
      ...(isTarget ? { isTarget } : {}),
    });
    limit.release();
    const hint = result && sudoHint(prepared, result);
    if (hint !== undefined)
      emit({ type: 'log', level: 'warning', host: host.id, module: 'sudo', message: hint });
    return limit.explain(result);
  };
  try {
    for (const batch of batches(hosts, request)) {
      const limit = pLimit(Math.max(1, request.options.maxProcs));
      const enter = newBarrier();
      const pass = async (host: Host): Promise<void> => {
        const gate = enter();
        // After its result was told: what does not compile is seen before others are changed.
        await one(host, gate).finally(gate.leave);
      };
      await Promise.all(batch.map(host => limit(pass, host)));
      if (signal.aborted) break;
      if (request.options.batchWait && !(request.options.failhard && hasFailed))
        await pause(request.options.batchWait * 1000, signal);
    }
    if (spared.length > 0) emit(sparedHosts(spared));
  } finally {
    if (!kept) transport.close();
    emit({ type: 'end' });
  }
  if (answered === 0 && isTarget && !signal.aborted) throw noTarget(request);
};

/** Nobody fills a mine: whoever configures one is told. */
const minesWithoutEffect = (hosts: readonly Host[]): string[] => {
  const [first, ...others] = hosts.filter(({ minion_opts }) => 'mine_functions' in minion_opts);
  if (!first) return [];
  const who = others.length === 0 ? first.id : `${first.id} and ${others.length} more`;
  return [`mine_functions of ${who} has no effect: no minion runs that could fill a mine.`];
};

/** What can be said before any connection: calls that cannot work, modules that are left out. */
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

/** Makes what all hosts of a request share. Nothing is read of hosts. */
export const shareRequest = (request: Request, emit: Shared['emit']): Shared => {
  const { config } = request;
  const fileRoots = new FileRoots(config.file_roots, config);
  const artifact = buildArtifact({
    ...modulePlaces(config),
    controlFunctions: controlFunctions(),
  });
  // Awaited by every host; a failure is each host's own, so it must not count as unhandled here.
  artifact.catch(() => undefined);
  let own: Promise<OwnModules> | undefined;
  const log = (message: string): void =>
    emit({ type: 'log', level: 'info', module: 'node', message });
  return {
    request,
    emit,
    fileRoots,
    pillarRoots: new FileRoots(config.pillar_roots, config),
    artifact: () => artifact,
    ownModules: () => {
      own ??= artifact.then(built => ownModules(config, built));
      return own;
    },
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

const isHost = (value: unknown): value is Host =>
  typeof value === 'object' && value !== null && 'id' in value;

const unprepared = (host: Host, request: Request, error: unknown): HostResult => ({
  id: host.id,
  fun: request.fun,
  retcode: 254,
  failure: {
    kind: error instanceof TsaltError && isEntryFault(error) ? error.kind : 'auth',
    code: error instanceof TsaltError ? error.code : 'secret',
    message: showError(error),
  },
});

/** The roster's entry is wrong, and not only a secret that it names. */
const isEntryFault = ({ code }: TsaltError): boolean =>
  code.startsWith('roster-') && !code.startsWith('roster-secret');

const failed = ({ retcode, failure }: HostResult): boolean =>
  retcode !== 0 || failure !== undefined;

const batches = (hosts: readonly Host[], { options: { batch } }: Request): (readonly Host[])[] => {
  if (!batch) return [hosts];
  const size = Math.max(
    1,
    'count' in batch ? batch.count : Math.ceil((hosts.length * batch.percent) / 100),
  );
  return Array.from({ length: Math.ceil(hosts.length / size) }, (_, index) =>
    hosts.slice(index * size, (index + 1) * size),
  );
};

const sparedHosts = (ids: readonly string[]): RunEvent => ({
  type: 'log',
  level: 'warning',
  module: 'run',
  message: `A host failed: --failhard gave no work to ${ids.slice(0, 8).join(', ')}${ids.length > 8 ? ` and ${ids.length - 8} more` : ''}.`,
});
