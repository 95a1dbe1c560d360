import { toPlain, toPlainDict } from '../../data/values/value.ts';
import type { HostResult, Phase } from '../../protocol/event.ts';
import type { CallResult } from '../../protocol/job.ts';
import type { Handler, Peer } from '../../protocol/peer.ts';
import { openRuntime } from '../../transport/bootstrap.ts';
import type { Link } from '../../transport/runtime-link.ts';
import type { Connection } from '../../transport/transport.ts';
import type { Shared } from '../fleet/shared.ts';
import { hostLimits } from '../serve/host-limits.ts';
import { readFinished, readLine, readStarted } from '../serve/said-events.ts';
import { askSudo, type HostRun, phase } from './host-run.ts';
import { lastGrains } from './last-grains.ts';
import { PlacedFaults } from './placed-faults.ts';
import { type NewSite, Rehearsal } from './rehearsal.ts';
import type { Site } from './site.ts';

export type EarlyCall = {
  readonly send: (peer: Peer) => void;
  readonly answer: () => Promise<CallResult> | undefined;
};

/**
 * A function of the host that needs nothing of it first travels with the command that starts
 * the runtime: one round trip less. What depends on grains (targets, pillar) has to wait.
 */
export const earlyCall = async (run: HostRun, site: Site): Promise<EarlyCall | undefined> => {
  const { fun, args, kwargs } = run.shared.request;
  if (run.isTarget || (await site.calls.wrapper(fun)) || (await site.calls.needsPillar()))
    return undefined;
  let answer: Promise<CallResult> | undefined;
  return {
    send: peer => {
      answer = site.calls.callHost(fun, args.map(toPlain), toPlainDict(kwargs), { early: peer });
      // Whoever waits for it hears of a failure; when the link never stands, nobody waits.
      answer.catch(() => undefined);
    },
    answer: () => answer,
  };
};

type Beginning = {
  readonly site: Site;
  readonly early: EarlyCall | undefined;
  readonly rehearsalSite: NewSite;
  /** The run itself, with a site that has its modules. */
  readonly perform: (site: Site, shared: Shared) => Promise<HostResult>;
};

type Started = {
  readonly link: Link;
  readonly site: Site;
  /** What comes of the run, where it began before the host had answered. */
  readonly rehearsed?: Promise<HostResult>;
  /** It began so, in vain. */
  readonly wrong: boolean;
};

/**
 * Starts the runtime and waits for its hello. Meanwhile a run of states is rendered and compiled
 * with the grains of the host's last run, or else what renders is loaded.
 */
export const startRuntime = async (
  run: HostRun,
  connection: Connection,
  { site, early, rehearsalSite, perform }: Beginning,
): Promise<Started> => {
  const { host, shared, gate } = run;
  let rehearsal: Rehearsal | undefined;
  let greeted: (site: Site) => void = () => undefined;
  const current = new Promise<Site>(resolve => {
    greeted = resolve;
  });
  const meanwhile = async (): Promise<void> => {
    if (rehearsal || early || !shared.request.fun.startsWith('state.')) return;
    const grains = run.isTarget ? undefined : lastGrains(shared.request, host);
    if (!grains) return void site.templates.warmUp();
    const { artifact, ownModules } = shared;
    const known = [await artifact(), await ownModules()] as const;
    rehearsal = new Rehearsal(shared, grains, rehearsalSite, (guess, own) => {
      guess.learn(...known);
      return perform(guess, own);
    });
  };
  let now = site;
  const link = await connectRuntime(run, connection, {
    handlers: handlersOf(site, current),
    site: () => now,
    early,
    // It only saves time: what fails in it fails again where it counts. Node would put off an
    // immediate without a reference until the host answers.
    onSent: () => void setImmediate(() => void meanwhile().catch(() => undefined)),
  });
  const { hello, peer } = link;
  const rehearsed = rehearsal?.confirm(hello.grains, peer);
  if (rehearsed) now = rehearsed.site;
  else site.greet(hello.grains, peer);
  greeted(now);
  gate?.connected();
  return {
    link,
    site: now,
    wrong: rehearsal !== undefined && !rehearsed,
    ...(rehearsed ? { rehearsed: rehearsed.result() } : {}),
  };
};

/** A job that travelled ahead may ask in the same packet as hello: the host's grains come first. */
const handlersOf = (site: Site, greeted: Promise<Site>): Record<string, Handler> =>
  Object.fromEntries(
    Object.keys(site.handlers).map((method): [string, Handler] => [
      method,
      async (params, peer) => (await greeted).handlers[method]?.(params, peer),
    ]),
  );

type Wiring = {
  readonly handlers: Readonly<Record<string, Handler>>;
  readonly site: () => Site;
  readonly early: EarlyCall | undefined;
  readonly onSent: () => void;
};

/** Starts the runtime and waits for its hello: nothing more. */
export const connectRuntime = async (
  run: HostRun,
  connection: Connection,
  { handlers, site, early, onSent }: Wiring,
): Promise<Link> => {
  const { host, shared } = run;
  const { options } = shared.request;
  let begun = false;
  const artifact = await shared.artifact();
  const faults = new PlacedFaults(artifact, (message, trace) =>
    shared.emit({ type: 'log', host: host.id, level: 'debug', module: 'stack', message, trace }),
  );
  return openRuntime({
    connection,
    host,
    artifact,
    handlers,
    explain: faults.explain,
    limits: hostLimits(message =>
      shared.emit({ type: 'log', host: host.id, level: 'warning', module: 'host', message }),
    ),
    ...(early ? { early: early.send } : {}),
    ...(shared.request.fun.startsWith('state.') ? { kind: 'state' as const } : {}),
    events: {
      'state-start': (said: unknown) => {
        const started = readStarted(said);
        site().states.started(started);
        if (!site().states.isOwnRun) return;
        if (!begun) phase(run, 'run', `first state ${started.tag}`);
        begun = true;
        shared.emit({ type: 'state-start', host: host.id, ...started });
      },
      state: (said: unknown) => {
        const finished = site().templates.withFaults(faults.state(readFinished(said)));
        if (site().states.finished(finished))
          shared.emit({ type: 'state', host: host.id, ...finished });
      },
      log: (said: unknown) =>
        shared.emit({ type: 'log', host: host.id, ...faults.line(readLine(said)) }),
    },
    onPhase: (name: Phase, detail?: string) => phase(run, name, detail),
    onSent,
    signal: run.signal,
    askSudoPassword: askSudo(run),
    nodeSource: shared.nodeSource,
    preFlight: options.preFlight,
    wipe: options.wipe || shared.request.config.ssh_wipe,
    randomDir: options.randomThinDir,
  });
};
