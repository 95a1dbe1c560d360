import type { Artifact } from '../../protocol/artifact.ts';
import type { Phase, RunEvent } from '../../protocol/event.ts';
import type { StateStarted } from '../../protocol/job.ts';
import { openRuntime } from '../../transport/bootstrap.ts';
import type { Link } from '../../transport/runtime-link.ts';
import type { Connection } from '../../transport/transport.ts';
import { hostLimits } from '../serve/host-limits.ts';
import {
  readBegan,
  readFinished,
  readLine,
  readOutput,
  readSent,
  readStarted,
} from '../serve/reported-events.ts';
import type { EarlyCall } from './early-call.ts';
import { askSudo, type HostRun, phase } from './host-run.ts';
import type { RuntimeSlot, Served } from './kept-runtimes.ts';
import { LocatedErrors } from './located-errors.ts';

/** How to start a runtime. */
export type Wiring = {
  readonly early?: EarlyCall;
  /** Started instead where the host lacks the artifact; see `RuntimeOptions`. */
  readonly grainsProgram?: Artifact;
  /** Lines of the log of that program: the artifact, started later, repeats them. */
  readonly logged?: Set<string>;
  /** See `RuntimeOptions`. */
  readonly isPrepared?: boolean;
  /** The host collects its grains only when something needs them. */
  readonly leavesGrains?: boolean;
  /** Called when the start command was sent: the host is busy for a while. */
  readonly onSent?: () => void;
};

/** Describes a host's run as the one that a runtime serves. */
export const servedOf = (
  run: HostRun,
  { attempt, handlers }: Pick<Served, 'attempt' | 'handlers'>,
): Served => ({
  run,
  attempt,
  handlers,
  limits: hostLimits(message =>
    run.shared.emit({
      type: 'log',
      host: run.host.id,
      level: 'warning',
      module: 'host',
      message,
    }),
  ),
});

/**
 * Starts the runtime on a connection, within the limits for hosts, and waits for its hello. Later
 * messages of the host belong to the run that the slot serves.
 */
export const connectRuntime = async (
  run: HostRun,
  connection: Connection,
  slot: RuntimeSlot & { served: Served },
  { early, grainsProgram, leavesGrains = false, logged = new Set(), isPrepared, onSent }: Wiring,
): Promise<Link> => {
  const { host, shared } = run;
  const { options } = shared.request;
  const artifact = await shared.artifact();
  const emit = (event: RunEvent): void => slot.served?.run.shared.emit(event);
  let begunFor: Served | undefined;
  let isGrainsOnly = false;
  const running = (): Artifact => (isGrainsOnly && grainsProgram) || artifact;
  const trace: Artifact['trace'] = positions => running().trace(positions);
  const faults = new LocatedErrors({ trace }, (message, trace) =>
    emit({ type: 'log', host: host.id, level: 'debug', module: 'stack', message, trace }),
  );
  const begin = (started: StateStarted): void => {
    const states = slot.served?.attempt().states;
    if (!states) return;
    states.started(started);
    if (!states.isOwnRun) return;
    if (begunFor !== slot.served)
      emit({ type: 'phase', host: host.id, phase: 'run', detail: `first state ${started.tag}` });
    begunFor = slot.served;
    emit({ type: 'state-start', host: host.id, ...started });
  };
  const link = await openRuntime({
    connection,
    host,
    artifact,
    handlers: slot.handlers(Object.keys(slot.served.handlers)),
    explain: faults.explain,
    limits: {
      ...slot.served.limits,
      admits: (name, bytes) => slot.served?.limits.admits(name, bytes) ?? false,
    },
    ...(early ? { early: early.send } : {}),
    ...(grainsProgram ? { grainsProgram } : {}),
    ...(isPrepared ? { isPrepared } : {}),
    ...(shared.request.fun.startsWith('state.') ? { kind: 'state' as const } : {}),
    ...(leavesGrains ? { kind: 'state-lazy' as const } : {}),
    ...(early?.needsNoGrains ? { kind: 'lazy' as const } : {}),
    events: {
      'state-start': (said: unknown) => begin(readStarted(said)),
      state: (said: unknown) => {
        const began = readBegan(said);
        if (began) begin(began);
        const { states, templates } = slot.served?.attempt() ?? {};
        const read = faults.state(readFinished(said));
        const finished = templates?.withFaults(read) ?? read;
        if (states?.finished(finished)) emit({ type: 'state', host: host.id, ...finished });
      },
      output: (said: unknown) => {
        const piece = slot.served?.attempt().states.shown(readOutput(said));
        if (piece) emit({ type: 'output', host: host.id, ...piece });
      },
      event: (said: unknown) => emit({ type: 'event', host: host.id, ...readSent(said) }),
      log: (said: unknown) => {
        const line = faults.line(readLine(said));
        if (logged.has(line.message)) return;
        if (isGrainsOnly) logged.add(line.message);
        emit({ type: 'log', host: host.id, ...line });
      },
    },
    onPhase: (name: Phase, detail?: string) => phase(run, name, detail),
    ...(onSent ? { onSent } : {}),
    onStart: started => {
      isGrainsOnly = started.isGrainsOnly;
    },
    signal: slot.stop.signal,
    askSudoPassword: askSudo(run),
    nodeSource: shared.nodeSource,
    preFlight: options.preFlight,
    wipe: options.wipe || shared.request.config.ssh_wipe,
    randomDir: options.randomThinDir,
  });
  slot.opened(connection, link, running().sha256);
  return link;
};
