import { existsSync } from 'node:fs';
import type { Request } from '../config/request.ts';
import type { Data, Dict } from '../data/values/value.ts';
import { TsaltError } from '../protocol/error.ts';
import { loadYamlArgument } from '../yaml/argument.ts';
import { splitArguments } from './arguments.ts';
import { cleanCommand } from './clean.ts';
import { isFunctionName } from './function-name.ts';
import type { Given } from './given.ts';

/** The parsed arguments of a command line. */
export type CommandLineCall = {
  readonly target: string;
  readonly fun: string;
  readonly args: readonly Data[];
  readonly kwargs: Dict;
  readonly raw?: NonNullable<Request['raw']>;
};

/**
 * Reads target, function and arguments of a command line.
 *
 * @throws TsaltError `usage-…`
 */
export const callOf = ({ options, words }: Given): CommandLineCall => {
  const orchestrated = textOf(options.orch);
  if (options.resume !== undefined && !isOrchestrated({ options, words })) throw resumesNothing();
  const rest =
    orchestrated !== undefined
      ? ['@control', 'state.orchestrate', orchestrated, ...words]
      : options.local === true
        ? ['@local', ...words]
        : [...words];
  const [target, fun, ...given] = rest;
  if (target === undefined)
    throw new TsaltError('usage-words', 'A target and a function are needed.', {
      hint: 'tsalt-ssh --help shows how to give them.',
    });
  // A host of that name can be addressed as `-L clean`.
  const isClean =
    target === 'clean' && fun !== undefined && given.length === 0 && options.list !== true;
  if (options['dry-run'] === true && (options.raw === true || isClean))
    throw new TsaltError(
      'usage-dry-run',
      `${isClean ? "'clean'" : 'A shell command'} has no test mode for --dry-run; nothing was run.`,
    );
  if (isClean)
    return { target: fun, fun: 'ssh._raw', args: [], kwargs: new Map(), raw: cleanCommand };
  if (fun === undefined) throw withoutFunction(target, options.raw === true);
  const isPlan = options['plan-out'] !== undefined || options.ask === true;
  const planOption = options.ask === true ? '--ask' : '--plan-out';
  if (options.raw === true && isPlan) testStates('-r', new Map(), planOption);
  if (options.raw === true && options['expect-no-changes'] === true)
    testStates('-r', new Map(), '--expect-no-changes');
  if (options.raw === true)
    return { target, fun: 'ssh._raw', args: [], kwargs: new Map(), raw: [fun, ...given].join(' ') };
  if (!isFunctionName(fun)) throw wrongFunction(target, fun, given);
  const noParse = (textOf(options['no-parse']) ?? '').split(',').map(name => name.trim());
  const { args, kwargs } = splitArguments(given, noParse, loadYamlArgument);
  if (options['dry-run'] === true && !kwargs.has('test')) kwargs.set('test', true);
  if (options['expect-no-changes'] === true) testStates(fun, kwargs, '--expect-no-changes');
  if (isPlan) testStates(fun, kwargs, planOption);
  return { target, fun, args, kwargs };
};

const orchestrations: ReadonlySet<string | undefined> = new Set([
  'state.orchestrate',
  'state.orch',
]);

/** Whether a command line runs an orchestration. */
export const isOrchestrated = ({ options, words }: Given): boolean =>
  options.orch !== undefined || orchestrations.has(words[options.local === true ? 0 : 1]);

const resumesNothing = (): TsaltError =>
  new TsaltError('usage-resume', '--resume is for orchestrations.', {
    hint: 'For example: tsalt-ssh --orch deploy --resume JID',
  });

/** Sets test mode in a call of states, for an option that requires it. */
const testStates = (fun: string, kwargs: Dict, option: string): void => {
  if (!fun.startsWith('state.'))
    throw new TsaltError(
      'usage-value',
      `${option} is for runs of states, such as state.apply, not for ${fun}.`,
    );
  if (kwargs.get('test') === false)
    throw new TsaltError('usage-value', `${option} and test=False exclude each other.`);
  kwargs.set('test', true);
};

const withoutFunction = (target: string, isRaw: boolean): TsaltError =>
  new TsaltError(
    'usage-words',
    isRaw
      ? `A shell command is needed after the target '${target}'.`
      : isFunctionName(target)
        ? `A target is needed before the function '${target}'.`
        : `A function is needed after the target '${target}'.`,
    {
      hint: isFunctionName(target)
        ? `For example: tsalt-ssh '*' ${target}`
        : isRaw
          ? "For example: tsalt-ssh -r 'web*' uptime"
          : "For example: tsalt-ssh 'web*' test.ping",
    },
  );

/** Recognises two common mistakes: target and function swapped, and an unquoted glob. */
const wrongFunction = (target: string, fun: string, given: readonly string[]): TsaltError => {
  const message = `The function '${fun}' is not of the form module.function.`;
  const [next = ''] = given;
  if (target === '@local' && isFunctionName(next))
    return new TsaltError('usage-function', message, {
      hint: `--local takes no target: tsalt-ssh --local ${given.join(' ')}`,
    });
  if (existsSync(target) && existsSync(fun))
    return new TsaltError('usage-function', message, {
      hint: `'${target}' and '${fun}' are names of files here: the shell has replaced a target by them. Quote it: tsalt-ssh '*' ${given.find(isFunctionName) ?? 'test.ping'}`,
    });
  if (isFunctionName(target) && !existsSync(target))
    return new TsaltError('usage-function', message, {
      hint: `The target comes first: tsalt-ssh '${fun}' ${[target, ...given].join(' ')}`,
    });
  return new TsaltError('usage-function', message, {
    hint: 'For a shell command use -r or cmd.run.',
  });
};

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;
