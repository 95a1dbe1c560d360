import type { Phase } from '../../protocol/event.ts';
import type { Handler } from '../../protocol/peer.ts';
import { openRuntime } from '../../transport/bootstrap.ts';
import type { Link } from '../../transport/runtime-link.ts';
import type { Connection } from '../../transport/transport.ts';
import { hostLimits } from '../serve/host-limits.ts';
import { readFinished, readLine, readStarted } from '../serve/said-events.ts';
import type { HostAttempt } from './attempt.ts';
import type { EarlyCall } from './early-call.ts';
import { askSudo, type HostRun, phase } from './host-run.ts';
import { PlacedFaults } from './placed-faults.ts';

/** What a runtime is connected to. */
export type Wiring = {
  readonly handlers: Readonly<Record<string, Handler>>;
  /** The attempt whose states run. */
  readonly attempt: () => HostAttempt;
  readonly early?: EarlyCall;
  /** The command that starts the runtime was sent: the host is busy for a while. */
  readonly onSent?: () => void;
};

/** Starts the runtime on a connection, within the limits for hosts, and waits for its hello. */
export const connectRuntime = async (
  run: HostRun,
  connection: Connection,
  { handlers, attempt, early, onSent }: Wiring,
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
        const { states } = attempt();
        states.started(started);
        if (!states.isOwnRun) return;
        if (!begun) phase(run, 'run', `first state ${started.tag}`);
        begun = true;
        shared.emit({ type: 'state-start', host: host.id, ...started });
      },
      state: (said: unknown) => {
        const { states, templates } = attempt();
        const finished = templates.withFaults(faults.state(readFinished(said)));
        if (states.finished(finished)) shared.emit({ type: 'state', host: host.id, ...finished });
      },
      log: (said: unknown) =>
        shared.emit({ type: 'log', host: host.id, ...faults.line(readLine(said)) }),
    },
    onPhase: (name: Phase, detail?: string) => phase(run, name, detail),
    ...(onSent ? { onSent } : {}),
    signal: run.signal,
    askSudoPassword: askSudo(run),
    nodeSource: shared.nodeSource,
    preFlight: options.preFlight,
    wipe: options.wipe || shared.request.config.ssh_wipe,
    randomDir: options.randomThinDir,
  });
};
