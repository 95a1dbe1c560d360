import { TsaltError } from '../protocol/error.ts';
import type { Given } from '../request/given.ts';
import { misspeltCommand, namedCommand, type Opened } from './commands.ts';
import { exitCode, exitCodeOfError } from './exit-code.ts';
import { printText } from './print-text.ts';
import { parseCommandLine } from './quick-parse.ts';
import { protectRemoteCommand } from './remote-command-args.ts';
import { print, watchStandardOutput } from './standard-output.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** Runs the command line; returns the exit code. */
export const main = async (argv: readonly string[], env: Env): Promise<number> => {
  watchStandardOutput();
  try {
    const words = protectRemoteCommand(argv);
    const given = await parseCommandLine(words);
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
  // One argument cannot be a call: a call has a function.
  const word = words.length === 1 && options.hosts !== true ? words[0] : undefined;
  if (options.help === true || word === 'help' || argv.length === 0) {
    const { helpText } = await import('./help-text.ts');
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
  const { openGiven } = await import('./open-given.ts');
  const first = await openGiven(given, env);
  const opened =
    options.rerun === undefined
      ? first
      : { ...first, given: (await import('./records/rerun.ts')).rerunGiven(first) };
  if (options.hosts === true) return listHosts(opened);
  if (named !== undefined && 'run' in named.command) return named.command.run(named.words, opened);
  if (options.ask === true) return (await import('./plan/ask-plan.ts')).askAndApply(opened);
  if (options.detach === true) return (await import('./detach/detach.ts')).detach(opened, argv);
  return (await import('./run-call.ts')).runCall(opened);
};

const isHelp = ({ options }: Given): boolean =>
  options.help === true || options.version === true || options['versions-report'] === true;

/**
 * `-H`: lists all hosts, or those that match a target.
 *
 * @throws TsaltError `no-target` if there are none
 */
const listHosts = async (opened: Opened): Promise<number> => {
  const [target = '*'] = opened.given.words;
  const { certainties, prepareTarget } = await import('./list-targets.ts');
  const found =
    target === '*' ? undefined : await certainties(await prepareTarget(target, opened), false);
  const { hostsText } = await import('./hosts.ts');
  const text = await hostsText(opened, found && new Set([...found.keys()].map(({ id }) => id)));
  if (text !== '') return printText(text);
  const { noTarget } = await import('../control/fleet/no-target.ts');
  throw noTarget((await prepareTarget(target, opened)).request);
};

/**
 * Reports an error that occurs before the output is open: in the command line or the configuration.
 */
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
