import { brokenPillar, pillarMessage } from '../../compiler/pillar.ts';
import type { Request } from '../../config/request.ts';
import { splitFunctionName } from '../../data/signatures/function-name.ts';
import { toPlain, toPlainDict } from '../../data/values/value.ts';
import { showError, TsaltError } from '../../protocol/error.ts';
import type { HostFailure, HostResult } from '../../protocol/event.ts';
import type { Host } from '../../protocol/host.ts';
import { cancelled } from '../../transport/faults.ts';
import { runRaw } from '../../transport/raw-shell.ts';
import type { Connection } from '../../transport/transport.ts';
import { callWrapper } from '../../wrapper/define.ts';
import { needsNoHost } from '../../wrapper/table.ts';
import { withUnfinished } from '../fleet/unfinished.ts';
import { runGuarded } from './confirm-guard.ts';
import { HostLink } from './host-link.ts';
import { askSudo, type HostRun, phase } from './host-run.ts';
import { keepGrains } from './last-grains.ts';
import { Outside } from './outside.ts';
import type { NewSite } from './rehearsal.ts';
import { restartHost } from './restart-host.ts';
import { Site, type SiteNeeds } from './site.ts';
import { type EarlyCall, earlyCall, startRuntime } from './start-runtime.ts';

/**
 * One host's run, stage by stage. Whatever goes wrong is part of the result: a failing host
 * never throws. Undefined: the host turned out to be no target.
 */
export const runHost = async (run: HostRun): Promise<HostResult | undefined> => {
  const { host, shared } = run;
  const { fun } = shared.request;
  const link = new HostLink(run);
  const faults: TsaltError[] = [];
  const refuse = (error: TsaltError): void => {
    faults.push(error);
    link.close();
  };
  const outside = new Outside();
  const rehearsalSite: NewSite = (own, greeted) =>
    makeSite({ ...run, shared: own }, link, { refuse, greeted, ask: outside.rehearse });
  let site = makeSite(run, link, { refuse, greeted: Promise.resolve(), ask: outside.ask });
  try {
    if (shared.request.raw === undefined && !run.isTarget && needsNoHost(fun)) {
      site.learn(await shared.artifact(), await shared.ownModules());
      return await dispatch(run, site, undefined);
    }
    phase(run, 'connect');
    const connection = await link.logIn();
    if (shared.request.raw !== undefined)
      return await rawShell(run, connection, shared.request.raw);
    // Before anything is sent: an early call may ask for its pillar at once.
    site.learn(await shared.artifact(), await shared.ownModules());
    const early = await earlyCall(run, site);
    const started = await startRuntime(run, connection, {
      site,
      early,
      rehearsalSite,
      perform: (guess, own) => dispatch({ ...run, shared: own }, guess, undefined),
    });
    link.use(started.link);
    site = started.site;
    if (run.isTarget && !(await run.isTarget(site))) return undefined;
    const result = await (started.rehearsed ?? dispatch(run, site, early));
    if (run.signal.aborted) throw cancelled(host.id);
    await keepGrains(shared.request, host, started.link.hello.grains, started.wrong);
    return result;
  } catch (error) {
    // Cancelled, the host may still answer: that its processes ended is no news then.
    const reason = faults[0] ?? (link.wasUsed && run.signal.aborted ? cancelled(host.id) : error);
    const cause = withUnfinished(reason, site);
    return {
      id: host.id,
      fun,
      retcode: retcodeOf(cause),
      failure: failureOf(host, cause),
      ...partial(site),
    };
  } finally {
    site.close();
    link.close();
    phase(run, 'done');
  }
};

/** `greeted`: nothing is changed on the host, nor counted by others, before. */
const makeSite = (
  { shared, host, gate }: HostRun,
  link: HostLink,
  { refuse, greeted, ask }: Pick<SiteNeeds, 'refuse' | 'ask'> & { greeted: Promise<void> },
): Site => {
  const site: Site = new Site(shared, host, {
    ask,
    refuse,
    ready: async () => {
      await greeted;
      await gate?.ready();
    },
    restart: restart => restartHost(link.forRestart(site), restart),
    guarded: (guard, states) => runGuarded(link.forGuard(site), guard, states),
  });
  return site;
};

/** Runs the function where it lives. */
const dispatch = async (
  run: HostRun,
  site: Site,
  early: EarlyCall | undefined,
): Promise<HostResult> => {
  const { host, shared } = run;
  const { fun, args, kwargs } = shared.request;
  const wrapper = await site.calls.wrapper(fun);
  if (!wrapper) {
    phase(run, 'run');
    const plain = toPlainDict(kwargs);
    const answer = early?.answer() ?? site.calls.callHost(fun, args.map(toPlain), plain);
    const { value, retcode } = await answer;
    return { id: host.id, fun, value, retcode, ...outputterOf(site, fun) };
  }
  phase(run, 'render');
  const value = await unlessInterrupted(
    run,
    site,
    callWrapper(fun, wrapper, site.context(), args, kwargs),
  );
  const { answer, retcode } = site.states;
  const problems = answer?.problems ? { problems: answer.problems } : {};
  if (answer && 'states' in answer)
    return { id: host.id, fun, states: answer.states, retcode, ...problems };
  return {
    id: host.id,
    fun,
    value: toPlain(value),
    retcode,
    ...problems,
    ...outputterOf(site, fun),
  };
};

/** After Ctrl-C a host at work ends its states in order; what is still rendered is not waited for. */
const unlessInterrupted = <T>(
  { host, signal }: HostRun,
  site: Site,
  work: Promise<T>,
): Promise<T> =>
  new Promise((resolve, reject) => {
    const leave = (): void => {
      if (!site.states.isSent) reject(cancelled(host.id));
    };
    const onAbort = (): void => void setTimeout(leave, patience).unref();
    signal.addEventListener('abort', onAbort, { once: true });
    // A run of many hosts must not hold on to all that it knew of those that are done.
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });

const patience = 500;

/** States that finished before the run broke: they are reported, not lost. */
const partial = (site: Site): Pick<HostResult, 'states'> =>
  Object.keys(site.states.results).length > 0 ? { states: site.states.results } : {};

const outputterOf = (site: Site, fun: string): Pick<HostResult, 'outputter'> => {
  const [module, name = ''] = splitFunctionName(fun);
  const outputter = site.facts.modules.find(
    item => item.kind === 'exec' && (item.virtualname ?? item.file) === module,
  )?.outputters?.[name];
  return outputter === undefined ? {} : { outputter };
};

/** `-r`: the command goes to the host's own shell; no runtime is needed there. */
const rawShell = async (
  run: HostRun,
  connection: Connection,
  raw: NonNullable<Request['raw']>,
): Promise<HostResult> => {
  const { host, shared, signal } = run;
  const command = typeof raw === 'string' ? raw : raw(host);
  const { stdout, stderr, retcode } = await runRaw({
    connection,
    host,
    command,
    signal,
    askSudoPassword: askSudo(run),
  });
  return {
    id: host.id,
    fun: shared.request.fun,
    retcode,
    value: retcode === 0 && stderr === '' ? stdout : { retcode, stdout, stderr },
  };
};

const failureOf = ({ id }: Host, error: unknown): HostFailure => {
  const code = error instanceof TsaltError ? error.code : 'internal';
  const problems = brokenPillar(error)?.problems;
  const message = problems ? pillarMessage(problems) : showError(error);
  return {
    kind: error instanceof TsaltError ? error.kind : 'internal',
    code,
    // The wire does not know whose it is.
    message: code.startsWith('wire-') && !message.startsWith(id) ? `${id}: ${message}` : message,
  };
};

/** Salt's codes for a host: 1 compile error, 5 pillar, 254 for what keeps us from the host. */
const retcodeOf = (error: unknown): number => {
  const kind = error instanceof TsaltError ? error.kind : 'internal';
  if (kind === 'pillar') return 5;
  return ['unreachable', 'host-key', 'auth'].includes(kind) ? 254 : 1;
};
