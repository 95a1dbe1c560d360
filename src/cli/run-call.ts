import type { Request } from '../config/request.ts';
import type { RunSession } from '../library/session.ts';
import type { PageAbout } from '../output/html/about.ts';
import type { RunEvent } from '../protocol/event.ts';
import type { CommandLineCall } from '../request/call.ts';
import type { Given } from '../request/given.ts';
import type { Opened } from './commands.ts';
import {
  exitCode,
  exitCodeOfError,
  exitCodeOfHost,
  mostSevereCode,
  predictsChange,
} from './exit-code.ts';
import type { OpenedOutput } from './open-reports.ts';
import type { PlanRun } from './plan/plan-run.ts';
import { withOutputErrors } from './print-text.ts';

/** Replaces parts of a call on hosts. */
type CallParts = {
  /** A plan to apply, instead of the call of the command line. */
  readonly planned?: {
    readonly call: () => CommandLineCall;
    readonly prepare: (request: Request) => Promise<Request>;
  };
  /** The plan file that the run applies. */
  readonly planFile?: string;
  /** The plan to make from the run. */
  readonly making?: PlanRun;
  /** Receives the events instead of the normal output. */
  readonly output?: OpenedOutput;
  /** Shows progress and messages, without results. */
  readonly isQuiet?: boolean;
  /** Follows the run in addition to the output. */
  readonly follow?: RunFollower;
  /** Returns the parts of `--report html=FILE` beside the results. */
  readonly about?: () => PageAbout | undefined;
};

/** Follows a run. */
type RunFollower = {
  readonly begin: (request: Request) => void;
  readonly emit: (event: RunEvent) => void;
};

/**
 * Runs a function on hosts and shows the results.
 *
 * @param session the connections and runtimes to use: an interrupted run does not end them
 * @returns the exit code
 */
export const runCall = async (
  opened: Opened,
  session?: RunSession,
  { planned, planFile, making, output: recorded, isQuiet = false, follow, about }: CallParts = {},
): Promise<number> => {
  const { given, config } = opened;
  const { startRun } = await import('../library/fleet-run.ts');
  const { createAsk, createConfirm } = await import('./terminal.ts');
  const { openOutput } = await import('./open-output.ts');
  const stop = new AbortController();
  const plan = making ?? (await planOut(given));
  const recorder =
    making || session
      ? undefined
      : (await import('./records/record-run.ts')).recordRun(opened, planFile);
  const returners =
    given.options.return === undefined && config.ext_job_cache === undefined
      ? undefined
      : await (await import('./open-returners.ts')).openReturners(opened);
  const followers: readonly (RunFollower | undefined)[] = [plan, follow, returners, recorder];
  let jid: string | undefined;
  const output =
    recorded ??
    (await openOutput({
      ...{ given, config, isQuiet },
      jid: () => jid,
      ...(about ? { about } : {}),
    }));
  const { release, began } = onInterrupt(stop, session !== undefined);
  const codes = new Set<number>();
  try {
    const confirm = createConfirm(output.pause);
    let hosts: Request['hosts'] = [];
    const run = (session?.start ?? startRun)({
      open: async () => ({
        ...opened,
        ask: createAsk(process, output.pause),
        ...(confirm ? { confirm } : {}),
        ...(planned ? { call: planned.call() } : {}),
      }),
      prepare: async made => {
        const whole = planned ? await planned.prepare(made) : made;
        const request =
          given.options.step === true ? await stepped(whole, given, output.pause) : whole;
        jid = request.options.jid;
        hosts = request.hosts;
        for (const one of followers) one?.begin(request);
        if (given.options.verbose === true)
          process.stderr.write(`Executing job with jid ${request.options.jid}\n`);
        return request;
      },
      signal: stop.signal,
    });
    const met = new Set<string>();
    for await (const event of run) {
      if (event.type === 'start') began();
      noteHost(event, given, { codes, met });
      for (const one of followers) one?.emit(event);
      output.emit(event);
    }
    const written = making || stop.signal.aborted ? undefined : await plan?.write();
    await output.finish();
    if (written !== undefined) process.stderr.write(written);
    if (given.options['update-roster'] === true || config.options.get('ssh_update_roster') === true)
      await (await import('./update-roster.ts')).updateRoster(opened, hosts, met);
  } catch (error) {
    await output.fail(error);
    codes.clear();
    codes.add(exitCodeOfError(error));
  } finally {
    release();
  }
  await returners?.end();
  const again = await recorder?.end(
    stop.signal.aborted ? exitCode.interrupted : mostSevereCode(codes),
  );
  if (again !== undefined && process.stderr.isTTY) process.stderr.write(again);
  const code = !stop.signal.aborted
    ? mostSevereCode(codes)
    : session === undefined
      ? leave()
      : exitCode.interrupted;
  const hint = 'The run itself went on to its end: only its report is incomplete.';
  return withOutputErrors(code, await output.errors(), hint);
};

/** Notes what the exit code and `--update-roster` depend on. */
const noteHost = (
  event: RunEvent,
  { options }: Given,
  { codes, met }: { readonly codes: Set<number>; readonly met: Set<string> },
): void => {
  if (event.type === 'phase' && event.phase === 'hello') met.add(event.host);
  if (event.type !== 'host') return;
  const { result } = event;
  codes.add(exitCodeOfHost(result));
  if (options['expect-no-changes'] === true && predictsChange(result))
    codes.add(exitCode.wouldChange);
  if (result.failure === undefined) met.add(result.id);
};

const stepped = async (
  request: Request,
  given: Given,
  pause: () => Promise<() => void>,
): Promise<Request> => {
  const { withSteps } = await import('./step.ts');
  const quit = (): boolean => process.kill(process.pid, 'SIGINT');
  return withSteps(request, given, { terminal: process, pause, quit });
};

const planOut = async (given: Given): Promise<PlanRun | undefined> =>
  given.options['plan-out'] === undefined
    ? undefined
    : (await import('./plan/plan-run.ts')).planRun(given);

/** Returns without waiting for a template that may still be rendering. */
const leave = (): number => {
  setTimeout(() => process.exit(exitCode.interrupted), 200).unref();
  return exitCode.interrupted;
};

/**
 * The first Ctrl-C ends the run in order, or at once if no host has begun; the second one does not
 * wait.
 */
const onInterrupt = (
  stop: AbortController,
  isSession: boolean,
): { readonly release: () => void; readonly began: () => void } => {
  let isBegun = false;
  const onSignal = (): void => {
    if (stop.signal.aborted || (!isBegun && !isSession)) process.exit(exitCode.interrupted);
    process.stderr.write('Interrupted: ending the run. Once more ends it at once.\n');
    stop.abort();
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, onSignal);
  return {
    release: () => {
      for (const signal of signals) process.off(signal, onSignal);
    },
    began: () => {
      isBegun = true;
    },
  };
};
