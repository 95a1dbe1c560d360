import { TsaltError } from '../protocol/error.ts';
import type { RunEvent } from '../protocol/event.ts';
import { misspeltCommand, namedCommand, type Opened } from './commands.ts';
import { exitCode, exitCodeOfError, exitCodeOfHost, gravest } from './exit-code.ts';
import type { Given } from './parse.ts';
import { printText, withOutputErrors } from './print-text.ts';
import { protectRemoteCommand } from './protect-words.ts';
import { quickParse } from './quick-parse.ts';
import { print, watchStandardOutput } from './standard-output.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** Runs the command line; returns the exit code. */
export const main = async (argv: readonly string[], env: Env): Promise<number> => {
  watchStandardOutput();
  try {
    const words = protectRemoteCommand(argv);
    const given = quickParse(words) ?? (await import('./parse.ts')).parseArguments(words);
    return await dispatch(given, argv, env);
  } catch (error) {
    return complain(error, argv, env);
  }
};

const dispatch = async (typed: Given, argv: readonly string[], env: Env): Promise<number> => {
  const owner = typed.options['trust-owner'];
  if (typeof owner === 'string') (await import('../trust/owners.ts')).trustOwners(owner);
  const early = isHelp(typed) ? undefined : namedCommand(typed);
  if (early !== undefined && 'runEarly' in early.command)
    return early.command.runEarly(early.words, typed, env);
  const { withSaltfile } = await import('./saltfile.ts');
  const given = await withSaltfile(typed, process.cwd(), env);
  const { options, words } = given;
  // A lone word cannot be a call: it would need a function.
  const word = words.length === 1 && options.hosts !== true ? words[0] : undefined;
  if (options.help === true || word === 'help' || argv.length === 0) {
    const { helpText } = await import('./parse.ts');
    const code = argv.length === 0 ? exitCode.usage : exitCode.ok;
    return printText(await helpText(process.stdout.columns ?? 100), code);
  }
  const isVersion = options.version === true || word === 'version';
  if (isVersion || options['versions-report'] === true) {
    const { versionText, versionsReport } = await import('./version.ts');
    return printText(isVersion ? versionText() : versionsReport());
  }
  const named = namedCommand(given);
  const slip = named === undefined ? misspeltCommand(given) : undefined;
  if (slip !== undefined) throw slip;
  const { loadConfig } = await import('../config/load.ts');
  const { asUsage } = await import('./usage.ts');
  const path = typeof options.config === 'string' ? { path: options.config } : {};
  const written = await asUsage(() => loadConfig({ cwd: process.cwd(), env, ...path }));
  const { openSdb, resolveConfig } = await import('./open-sdb.ts');
  const sdb = openSdb(written, env);
  const config = await resolveConfig(written, sdb);
  if (options.hosts === true) return listHosts({ given, config, env, sdb });
  const opened = { given, config, env, sdb };
  return named !== undefined && 'run' in named.command
    ? named.command.run(named.words, opened)
    : runCall(opened);
};

const isHelp = ({ options }: Given): boolean =>
  options.help === true || options.version === true || options['versions-report'] === true;

/** The ids of the target of `-H`; undefined for all hosts. */
const listedIds = async (opened: Opened): Promise<ReadonlySet<string> | undefined> => {
  const [target = '*'] = opened.given.words;
  if (target === '*') return undefined;
  const { certainties, targetRequest } = await import('./list-targets.ts');
  const found = await certainties(await targetRequest(target, opened), false);
  return new Set([...found.keys()].map(({ id }) => id));
};

const listHosts = async (opened: Opened): Promise<number> => {
  const { hostsText } = await import('./hosts.ts');
  return printText(await hostsText(opened, await listedIds(opened)));
};

const runCall = async (opened: Opened): Promise<number> => {
  const { given, config } = opened;
  const { makeRequest } = await import('./request.ts');
  const { createAsk, createConfirm } = await import('./terminal.ts');
  const { openOutput } = await import('./open-output.ts');
  const stop = new AbortController();
  const output = await openOutput({ given, config });
  const { release, began } = onInterrupt(stop);
  const codes = new Set<number>();
  try {
    const confirm = createConfirm(process, output.pause);
    const request = await makeRequest({
      ...opened,
      ask: createAsk(process, output.pause),
      ...(confirm ? { confirm } : {}),
    });
    if (given.options.verbose === true)
      process.stderr.write(`Executing job with jid ${request.options.jid}\n`);
    const { runFleet: run } = await import('../control/fleet/run.ts');
    const updates =
      given.options['update-roster'] === true || config.options.get('ssh_update_roster') === true;
    const met = new Set<string>();
    const emit = (event: RunEvent): void => {
      if (event.type === 'start') began();
      if (event.type === 'host') codes.add(exitCodeOfHost(event.result));
      if (event.type === 'host' && event.result.failure === undefined) met.add(event.result.id);
      if (event.type === 'phase' && event.phase === 'hello') met.add(event.host);
      output.emit(event);
    };
    await run(request, emit, stop.signal);
    await output.finish();
    if (updates)
      await (await import('./update-roster.ts')).updateRoster(opened, request.hosts, met);
  } catch (error) {
    await output.fail(error);
    codes.clear();
    codes.add(exitCodeOfError(error));
  } finally {
    release();
  }
  const code = stop.signal.aborted ? leave() : gravest(codes);
  const hint = 'The run itself went on to its end: only its report is incomplete.';
  return withOutputErrors(code, await output.errors(), hint);
};

/** A template that was interrupted may still be rendered: nobody waits for it. */
const leave = (): number => {
  setTimeout(() => process.exit(exitCode.interrupted), 200).unref();
  return exitCode.interrupted;
};

/**
 * The first Ctrl-C ends the run in order, and at once where no host is at work yet; the second
 * one does not wait.
 */
const onInterrupt = (
  stop: AbortController,
): { readonly release: () => void; readonly began: () => void } => {
  let isBegun = false;
  const onSignal = (): void => {
    if (stop.signal.aborted || !isBegun) process.exit(exitCode.interrupted);
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

/** An error before there is an output: the command line or the configuration is wrong. */
const complain = async (error: unknown, argv: readonly string[], env: Env): Promise<number> => {
  const { errorText } = await import('../output/message.ts');
  process.stderr.write(`${errorText(error)}\n`);
  const wanted = /^--(?:out|output)=(json|yaml)$/;
  const named = argv.some(
    (word, at) =>
      wanted.test(word) ||
      (/^--(?:out|output)$/.test(word) && /^(?:json|yaml)$/.test(argv[at + 1] ?? '')),
  );
  if (named) print('{}\n');
  if (!(error instanceof TsaltError) && env.TSALT_DEBUG !== undefined && error instanceof Error)
    process.stderr.write(`${error.stack}\n`);
  return exitCodeOfError(error);
};
