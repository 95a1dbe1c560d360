import { isAbsolute, resolve } from 'node:path';
import type { PromptQuestion } from '../config/request.ts';
import { closestMatch } from '../data/closest-match.ts';
import { TsaltError } from '../protocol/error.ts';
import { Secret } from '../protocol/host.ts';
import { options as commandLineOptions } from '../request/options.ts';
import type { Invocation } from '../request/rosters.ts';
import type { Entry } from '../roster/roster.ts';
import type { RunSource } from './fleet-run.ts';
import { openProject } from './open-project.ts';
import type { ProjectOptions, RunFlags, RunOptions, TargetSettings } from './options.ts';
import { userData, userDict } from './user-data.ts';

/**
 * Reads the configuration of a project and converts the options to those of the command line.
 *
 * @throws TsaltError `usage-…`, `config-…`
 */
export const openInvocation = async (
  given: ProjectOptions & RunFlags & Partial<TargetSettings>,
  own: readonly string[] = [],
): Promise<Invocation> => {
  checkNames(given, own);
  const { config, roster, env = process.env, ask, confirm } = given;
  const cwd = resolve(given.cwd ?? '.');
  const project = await openProject({
    cwd,
    env,
    ...(typeof config === 'string' ? { path: config } : {}),
    ...(typeof config === 'object' ? { given: userDict(config, 'config') } : {}),
  });
  return {
    ...project,
    given: { options: asCommandLine(given, cwd), words: [] },
    env,
    cwd,
    ask: question => answer(question, ask),
    ...(confirm ? { confirm: async question => confirm(question) } : {}),
    ...(typeof roster === 'object' ? { entries: entriesOf(roster, cwd) } : {}),
  };
};

/** Returns the run that the options of a program describe. */
export const runSource = (given: RunOptions): RunSource => ({
  open: () => openCall(given),
  ...(given.signal ? { signal: given.signal } : {}),
});

const openCall = async (given: RunOptions): Promise<Invocation> => {
  const { target, fun, args = [], kwargs = {}, test } = given;
  if (typeof fun !== 'string' || !/^[\w-]+(\.[\w-]+)+$/.test(fun))
    throw new TsaltError(
      'usage-function',
      `The function '${fun}' is not of the form module.function.`,
    );
  const invocation = await openInvocation(given, ['fun', 'args', 'kwargs', 'signal']);
  const dict = userDict(kwargs, 'kwargs');
  if (test !== undefined && !dict.has('test')) dict.set('test', test);
  return {
    ...invocation,
    call: {
      target: typeof target === 'string' ? target : target.join(','),
      fun,
      args: args.map((value, at) => userData(value, `args[${at}]`)),
      kwargs: dict,
    },
  };
};

const entriesOf = (roster: object, cwd: string): Entry[] =>
  [...userDict(roster, 'roster')].map(([id, value]) => ({
    id: String(id),
    value,
    file: resolve(cwd, 'the option roster'),
  }));

const projectNames = ['config', 'roster', 'cwd', 'env', 'ask', 'confirm'];
const targetNames = ['target', 'targetType', 'delimiter'];

/** Settings of a run, with the corresponding option of the command line. */
const settings = {
  maxProcs: 'max-procs',
  batch: 'batch',
  batchMode: 'batch-mode',
  batchWait: 'batch-wait',
  batchCheck: 'batch-check',
  batchAsk: 'batch-ask',
  maxFail: 'max-fail',
  order: 'order',
  limit: 'limit',
  exclude: 'exclude',
  failhard: 'failhard',
  only: 'only',
  skip: 'skip',
  tags: 'tags',
  skipTags: 'skip-tags',
  from: 'from',
  until: 'until',
  noDeps: 'no-deps',
  strict: 'strict',
  timeout: 'timeout',
  guard: 'guard',
  jid: 'jid',
  wipe: 'wipe',
  user: 'user',
  port: 'port',
  priv: 'priv',
  sudo: 'sudo',
  identitiesOnly: 'identities-only',
  noSshConfig: 'no-ssh-config',
  acceptNewHostKeys: 'accept-new-host-keys',
  ignoreHostKeys: 'ignore-host-keys',
  transport: 'transport',
  sshOption: 'ssh-option',
  nodeBin: 'node-bin',
} as const satisfies Record<Exclude<keyof RunFlags, 'test'>, keyof typeof commandLineOptions>;

/**
 * @throws TsaltError `usage-option` for an unknown name: a misspelling must not start a real run
 */
const checkNames = (given: object, own: readonly string[]): void => {
  const known = [...projectNames, ...targetNames, ...Object.keys(settings), 'test', ...own];
  const unknown = Object.keys(given).find(name => !known.includes(name));
  if (unknown === undefined) return;
  const meant = closestMatch(unknown, known);
  throw new TsaltError('usage-option', `There is no option '${unknown}'.`, {
    hint: meant === undefined ? `The options are ${known.join(', ')}.` : `Did you mean '${meant}'?`,
  });
};

const asCommandLine = (
  given: ProjectOptions & RunFlags & Partial<TargetSettings>,
  cwd: string,
): Invocation['given']['options'] => {
  const { target, targetType = Array.isArray(target) ? 'list' : 'glob', delimiter, roster } = given;
  const options: Record<string, string | boolean | readonly string[]> = {};
  for (const [name, option] of Object.entries(settings)) {
    const value: unknown = given[name as keyof RunFlags];
    const isFlag = commandLineOptions[option].type === 'boolean';
    if (value !== undefined) options[option] = optionValue(name, value, isFlag);
  }
  const kind = targetType.replaceAll('_', '-');
  if (targetType !== 'glob') {
    if (!Object.hasOwn(commandLineOptions, kind))
      throw new TsaltError('usage-target', `There is no target type '${targetType}'.`);
    options[kind] = true;
  }
  if (delimiter !== undefined) options.delimiter = delimiter;
  if (typeof roster === 'string')
    options['roster-file'] = isAbsolute(roster) ? roster : resolve(cwd, roster);
  return options;
};

const optionValue = (
  name: string,
  value: unknown,
  isFlag: boolean,
): string | boolean | readonly string[] => {
  if (isFlag && typeof value === 'boolean') return value;
  if (!isFlag && Array.isArray(value)) return value.map(String);
  if (!isFlag && (typeof value === 'string' || typeof value === 'number')) return String(value);
  throw new TsaltError(
    'usage-value',
    `The value of '${name}' must be ${isFlag ? 'true or false' : 'a text or a number'}.`,
  );
};

const answer = async (question: PromptQuestion, ask: ProjectOptions['ask']): Promise<Secret> => {
  if (ask === undefined)
    throw new TsaltError(
      'no-terminal',
      `The host '${question.host}' asks: ${question.prompt.trim()}, and there is no option 'ask' that answers.`,
      { kind: 'auth' },
    );
  return new Secret(String(await ask(question)));
};
