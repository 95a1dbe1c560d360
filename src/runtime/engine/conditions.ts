import { existsSync } from 'node:fs';
import { withShellOfStates } from '../../modules/salt/shell-default.ts';
import type { LowChunk } from '../../protocol/low.ts';
import { isPlainDict, type Plain, type PlainDict, plainText } from '../../protocol/plain.ts';
import { asList, truthy } from './low-tools.ts';
import type { EngineHost } from './run-state.ts';
import { fillSlots } from './slots.ts';
import { traversePlain } from './traverse.ts';

/** With `result: true` the state need not run, and this is its result. */
type Condition = {
  readonly result: boolean;
  readonly comment: string;
  readonly skip_watch?: true;
};

const commandArguments = [
  'cwd',
  'root',
  'runas',
  'env',
  'prepend_path',
  'timeout',
  'success_retcodes',
];

export const hasConditions = (low: LowChunk): boolean =>
  Object.hasOwn(low, 'onlyif') || Object.hasOwn(low, 'unless') || Object.hasOwn(low, 'creates');

/** Checks `onlyif`, `unless` and `creates` of a chunk; returns keys of its result. */
export const checkConditions = async (host: EngineHost, low: LowChunk): Promise<PlainDict> => {
  const options = commandOptions(host, low);
  const checks: Condition[] = [];
  if (Object.hasOwn(low, 'onlyif')) checks.push(await onlyif(host, low, options));
  if (Object.hasOwn(low, 'unless')) checks.push(await unless(host, low, options));
  if (Object.hasOwn(low, 'creates')) checks.push(creates(low));
  return {
    result: checks.some(({ result }) => result),
    comment: checks.map(({ comment }) => comment),
    __sls__: low.__sls__ ?? null,
    __id__: low.__id__ ?? null,
    name: low.name,
    ...(checks.some(check => check.skip_watch) ? { skip_watch: true } : {}),
  };
};

const commandOptions = (host: EngineHost, low: LowChunk): PlainDict => {
  const excluded = asList(low.cmd_opts_exclude);
  const options: PlainDict = {};
  for (const key of commandArguments) {
    const value = low[key];
    if (value !== undefined && value !== null && !excluded.includes(key)) options[key] = value;
  }
  const own = excluded.includes('shell') ? undefined : low.shell;
  const shell = own ?? host.grains().shell;
  if (typeof shell === 'string' && shell !== '/sbin/nologin') options.shell = shell;
  return options;
};

const runs = { result: false } as const;
const skips = { result: true, skip_watch: true } as const;

const onlyif = async (host: EngineHost, low: LowChunk, options: PlainDict): Promise<Condition> => {
  const no: Condition = { ...skips, comment: 'onlyif condition is false' };
  for (const entry of asList(low.onlyif)) {
    if (typeof entry === 'string') {
      if ((await retcode(host, entry, options, 100)) !== 0) return no;
    } else if (isPlainDict(entry)) {
      if (!Object.hasOwn(entry, 'fun'))
        return { ...runs, comment: `no \`fun\` argument in onlyif: ${JSON.stringify(entry)}` };
      if (!(await holds(host, entry))) return no;
    } else return { ...runs, comment: 'onlyif execution failed, bad type passed' };
  }
  return { ...runs, comment: 'onlyif condition is true' };
};

const unless = async (host: EngineHost, low: LowChunk, options: PlainDict): Promise<Condition> => {
  let found: Condition = { ...runs, comment: 'unless condition is false' };
  for (const entry of asList(low.unless)) {
    if (typeof entry === 'string') {
      if ((await retcode(host, entry, options, 0)) !== 0)
        return { ...runs, comment: 'unless condition is false' };
      found = { ...skips, comment: 'unless condition is true' };
    } else if (isPlainDict(entry)) {
      if (!Object.hasOwn(entry, 'fun'))
        return { ...runs, comment: `no \`fun\` argument in unless: ${JSON.stringify(entry)}` };
      if (!(await holds(host, entry))) return { ...runs, comment: 'unless condition is false' };
      found = { ...skips, comment: 'unless condition is true' };
    } else found = { ...found, ...runs, comment: 'unless condition is false, bad type passed' };
  }
  return found;
};

/** Returns the command's exit status; `otherwise` if it could not be started. */
const retcode = async (
  host: EngineHost,
  command: string,
  options: PlainDict,
  otherwise: number,
): Promise<number> => {
  try {
    return Number(
      await host.execute('cmd.retcode', [command], {
        ignore_retcode: true,
        python_shell: true,
        ...options,
      }),
    );
  } catch (error) {
    if (error instanceof Error && error.name === 'CommandExecutionError') {
      host.log('debug', `Condition ${command}: ${error.message}`);
      return otherwise;
    }
    throw error;
  }
};

/**
 * Checks a function as a condition: a true result, or exit status 0 if it set one in `__context__`.
 */
const holds = async (host: EngineHost, entry: PlainDict): Promise<boolean> => {
  const { fun, args, get_return, ...rest } = entry;
  const filled = await fillSlots(host, { args: args ?? [], rest });
  delete host.context.retcode; // only what this call leaves there counts
  const given = filled.args as Plain[];
  const kwargs = await fillSlots(host, filled.rest as PlainDict);
  const answer = await host.execute(
    plainText(fun),
    given,
    withShellOfStates(plainText(fun), given, kwargs, host.opts),
  );
  const result =
    typeof get_return === 'string' && get_return !== ''
      ? traversePlain(answer, get_return)
      : answer;
  const left = host.context.retcode;
  return truthy(left) ? false : truthy(result);
};

const creates = ({ creates }: LowChunk): Condition => {
  if (typeof creates === 'string' && existsSync(creates))
    return { ...skips, comment: `${creates} exists` };
  if (Array.isArray(creates) && creates.every(path => existsSync(plainText(path))))
    return { ...skips, comment: 'All files in creates exist' };
  return { ...runs, comment: 'Creates files not found' };
};

/** `check_cmd`: only these commands decide whether the state succeeded. */
export const checkCommands = async (host: EngineHost, low: LowChunk): Promise<PlainDict> => {
  const about = { __sls__: low.__sls__ ?? null, __id__: low.__id__ ?? null, name: low.name };
  const failed = { ...about, comment: 'check_cmd determined the state failed', result: false };
  const { check_cmd: commands } = low;
  if (!Array.isArray(commands) && commands !== '' && !isEmptyDict(commands)) {
    host.log('warning', `check_cmd of ${low.__id__} is not a list of commands.`);
    return failed;
  }
  const { shell } = host.grains();
  const list = Array.isArray(commands) ? commands : [];
  for (const command of list) {
    if (command === null || isPlainDict(command)) return failed;
    const status = await host.execute('cmd.retcode', [command], {
      ignore_retcode: true,
      python_shell: true,
      ...(typeof shell === 'string' ? { shell } : {}),
    });
    if (status !== 0) return failed;
  }
  return list.length === 0
    ? { ...about, result: false }
    : { ...about, comment: 'check_cmd determined the state succeeded', result: true };
};

const isEmptyDict = (value: Plain | undefined): boolean =>
  isPlainDict(value) && Object.keys(value).length === 0;
