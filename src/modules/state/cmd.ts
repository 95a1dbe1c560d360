/** Commands and scripts are run: when something else changed, or always. */
import { statSync } from 'node:fs';
import { isPlainDict } from '../../protocol/plain.ts';
import {
  __env__,
  __grains__,
  __opts__,
  __salt__,
  type Plain,
  type PlainDict,
  type StateReturn,
} from '../api.ts';
import { pyStr } from '../lib/python-text.ts';
import { splitWords } from '../lib/words.ts';

type CommandArguments = {
  cwd?: string | null;
  runas?: string | null;
  group?: string | null;
  shell?: string | null;
  env?: Plain;
  prepend_path?: string | null;
  stateful?: Plain;
  output_loglevel?: string;
  hide_output?: boolean;
  timeout?: number | null;
  use_vt?: boolean;
  success_retcodes?: Plain;
  success_stdout?: Plain;
  success_stderr?: Plain;
  umask?: string | number | null;
  stdin?: string | null;
  clean_env?: boolean;
  rstrip?: boolean;
  ignore_retcode?: boolean;
  bg?: boolean;
};

type RunArguments = CommandArguments & {
  root?: string | null;
  ignore_timeout?: boolean;
  python_shell?: boolean;
  template?: string | null;
};

type ScriptArguments = CommandArguments & {
  source?: string | null;
  template?: string | null;
  args?: string | null;
  defaults?: PlainDict | null;
  context?: PlainDict | null;
};

/**
 * Runs a command. It runs every time: say with `creates`, `unless`, `onlyif` or `onchanges` when
 * it need not.
 *
 * @param name the command line, run by the shell
 * @param cwd the folder to run in
 * @param root run it inside this root folder (chroot)
 * @param runas the account to run as
 * @param group the group to run with
 * @param shell the shell, `/bin/sh` by default
 * @param env variables to add, a dict or a list of dicts
 * @param prepend_path folders to put in front of PATH
 * @param stateful true: the command tells its result by its last line, `changed=yes comment='…'`, or
 *   as JSON; `- test_name: …` names the command to run in test mode
 * @param umask octal mask for new files
 * @param output_loglevel level at which the output is logged, `quiet` for not at all
 * @param hide_output true: the output is not in the result
 * @param timeout seconds after which the command is killed
 * @param ignore_timeout true: a command killed by `timeout` counts as a success
 * @param use_vt taken, without effect: output comes through pipes
 * @param success_retcodes exit statuses that count as 0
 * @param success_stdout texts in stdout that make it a success
 * @param success_stderr texts in stderr that make it a success
 * @param stdin text for its standard input
 * @param clean_env true: no variables but those of `env`
 * @param bg true: start it and do not wait
 * @example
 * make install:
 *   cmd.run:
 *     - cwd: /usr/src/tool
 *     - creates: /usr/local/bin/tool
 */
export const run = async (
  name: string,
  {
    cwd = null,
    root = null,
    runas = null,
    group = null,
    shell = null,
    env = null,
    prepend_path = null,
    stateful = false,
    umask = null,
    output_loglevel = 'debug',
    hide_output = false,
    timeout = null,
    ignore_timeout = false,
    use_vt = false,
    success_retcodes = null,
    success_stdout = null,
    success_stderr = null,
    stdin = null,
    clean_env = false,
    rstrip = true,
    ignore_retcode = false,
    python_shell = true,
    template = null,
    bg = false,
  }: RunArguments = {},
): Promise<StateReturn> => {
  const line = commandIn(name, stateful);
  const refused = badEnvironment(name, env);
  if (refused) return refused;
  if (__opts__.test && !testNameOf(stateful))
    return {
      ...wouldRun(name, `Command "${line}" would have been executed`, stateful),
      changes: { cmd: name },
    };
  if (cwd && !isFolder(cwd))
    return failed(name, `Desired working directory "${cwd}" is not available`);
  const options = {
    cwd,
    runas,
    group,
    shell: shell ?? __grains__.shell ?? '/bin/sh',
    env,
    prepend_path,
    umask,
    output_loglevel,
    hide_output,
    timeout,
    use_vt,
    success_retcodes,
    success_stdout,
    success_stderr,
    stdin,
    clean_env,
    rstrip,
    ignore_retcode,
    python_shell,
    template,
    bg,
  };
  let outcome: PlainDict;
  try {
    outcome = root
      ? await __salt__['cmd.run_chroot']?.(root, line, options)
      : await __salt__['cmd.run_all']?.(line, options);
  } catch (error) {
    return failed(name, messageOf(error));
  }
  const timedOut = outcome.retcode === 1 && String(outcome.stdout).includes('Timed out after');
  const changes = ignore_timeout && timedOut ? { ...outcome, retcode: 0 } : outcome;
  return finish(name, changes, `Command "${line}" run`, stateful);
};

/**
 * Runs a command only when something it watches has changed. `cmd.run` with `onchanges` is the
 * newer way to say so.
 *
 * @param name the command line, run by the shell
 * @param cwd the folder to run in
 * @param root run it inside this root folder (chroot)
 * @param runas the account to run as
 * @param shell the shell
 * @param env variables to add, a dict or a list of dicts
 * @param stateful as in `cmd.run`
 * @param umask octal mask for new files
 * @param output_loglevel level at which the output is logged
 * @param hide_output true: the output is not in the result
 * @param timeout seconds after which the command is killed
 * @param success_retcodes exit statuses that count as 0
 * @example
 * newaliases:
 *   cmd.wait:
 *     - watch:
 *       - file: /etc/aliases
 */
export const wait = async (name: string, { ...options }: RunArguments = {}): Promise<StateReturn> =>
  badEnvironment(name, options.env ?? null) ?? nothing(name);

/** The older name of `cmd.wait`. */
export const watch = wait;

/**
 * Fetches a script from the file server and runs it.
 *
 * @param name the source, with arguments after it; or any name when `source` is given
 * @param source `salt://…`, a URL or a path on the host
 * @param template render it on the control node first, with this renderer
 * @param args arguments for the script
 * @param cwd the folder to run in
 * @param runas the account to run as
 * @param shell the shell
 * @param env variables to add, a dict or a list of dicts
 * @param stateful as in `cmd.run`
 * @param timeout seconds after which the script is killed
 * @param output_loglevel level at which the output is logged
 * @param hide_output true: the output is not in the result
 * @param defaults variables for the template
 * @param context variables for the template that win over `defaults`
 * @param success_retcodes exit statuses that count as 0
 * @param success_stdout texts in stdout that make it a success
 * @param success_stderr texts in stderr that make it a success
 * @example
 * setup:
 *   cmd.script:
 *     - source: salt://scripts/setup.sh
 *     - creates: /etc/setup.done
 */
export const script = async (
  name: string,
  {
    source = null,
    template = null,
    args = null,
    cwd = null,
    runas = null,
    group = null,
    shell = null,
    env = null,
    prepend_path = null,
    stateful = false,
    umask = null,
    timeout = null,
    use_vt = false,
    output_loglevel = 'debug',
    hide_output = false,
    defaults = null,
    context = null,
    success_retcodes = null,
    success_stdout = null,
    success_stderr = null,
    stdin = null,
    clean_env = false,
    rstrip = true,
    ignore_retcode = false,
    bg = false,
  }: ScriptArguments = {},
): Promise<StateReturn> => {
  const line = commandIn(name, stateful);
  const refused = badEnvironment(name, env);
  if (refused) return refused;
  for (const [argument, value] of Object.entries({ context, defaults }))
    if (value && !isPlainDict(value))
      return failed(name, `Invalidly-formatted '${argument}' parameter. Must be formed as a dict.`);
  if (__opts__.test && !testNameOf(stateful))
    return wouldRun(name, `Command '${line}' would have been executed`, stateful);
  if (cwd && !isFolder(cwd))
    return failed(name, `Desired working directory "${cwd}" is not available`);
  const [first = line, ...rest] = line.split(' ');
  let outcome: PlainDict;
  try {
    outcome = await __salt__['cmd.script']?.(source ?? first, {
      args: args ?? (rest.length > 0 ? rest.join(' ') : null),
      template,
      saltenv: String(__env__),
      context: { ...defaults, ...context },
      cwd,
      runas,
      group,
      shell: shell ?? __grains__.shell ?? '/bin/sh',
      env,
      prepend_path,
      umask,
      timeout,
      use_vt,
      output_loglevel,
      hide_output,
      success_retcodes,
      success_stdout,
      success_stderr,
      stdin,
      clean_env,
      rstrip,
      ignore_retcode,
      bg,
    });
  } catch (error) {
    return failed(name, messageOf(error));
  }
  const comment = outcome.cache_error
    ? `Unable to cache script ${source ?? first} from saltenv '${__env__}'`
    : `Command '${line}' run`;
  return finish(name, outcome, comment, stateful);
};

/**
 * Runs a script of the file server only when something it watches has changed.
 *
 * @param name the source, with arguments after it; or any name when `source` is given
 * @param source `salt://…`, a URL or a path on the host
 * @example
 * salt://scripts/rebuild.sh:
 *   cmd.wait_script:
 *     - watch:
 *       - file: /etc/tool.conf
 */
export const wait_script = async (
  name: string,
  { ...options }: ScriptArguments = {},
): Promise<StateReturn> => badEnvironment(name, options.env ?? null) ?? nothing(name);

/**
 * Calls a function that a TypeScript SLS passes in; its answer is the result.
 *
 * @param name any name
 * @param func the function
 * @param args its arguments
 * @param kws its keyword arguments, passed as a last object
 */
export const call = async (
  name: string,
  {
    func,
    args = [],
    kws = null,
  }: { func: (...args: unknown[]) => unknown; args?: Plain[]; kws?: PlainDict | null },
): Promise<StateReturn> => {
  if (typeof func !== 'function')
    return failed(
      name,
      'cmd.call needs a function in "func"; functions exist only in SLS files that are programs.',
    );
  const answer = (await func(...args, ...(kws ? [kws] : []))) as Plain | undefined;
  if (isPlainDict(answer)) return { ...failed(name, ''), ...answer };
  return {
    name,
    changes: { retval: answer ?? null },
    result: answer === null || answer === undefined ? true : Boolean(answer),
    comment: typeof answer === 'string' ? answer : '',
  };
};

/** Runs what watched: called by the engine with the watching state's own arguments. */
export const mod_watch = async (
  name: string,
  { sfun, ...options }: { sfun: string } & PlainDict,
): Promise<StateReturn> => {
  if (['wait', 'run', 'watch'].includes(sfun)) return run(name, options as RunArguments);
  if (['wait_script', 'script'].includes(sfun)) return script(name, options as ScriptArguments);
  return failed(
    name,
    `cmd.${sfun} does not work with the watch requisite, please use cmd.wait or cmd.wait_script`,
  );
};

const nothing = (name: string): StateReturn => ({ name, changes: {}, result: true, comment: '' });

const failed = (name: string, comment: string): StateReturn => ({
  name,
  changes: {},
  result: false,
  comment,
});

const testNameOf = (stateful: Plain): string | undefined => {
  const first = Array.isArray(stateful) ? stateful[0] : undefined;
  return isPlainDict(first) && typeof first.test_name === 'string' ? first.test_name : undefined;
};

const commandIn = (name: string, stateful: Plain): string =>
  (__opts__.test ? testNameOf(stateful) : undefined) ?? name;

const isStateful = (stateful: Plain): boolean => stateful === true || Array.isArray(stateful);

const badEnvironment = (name: string, env: Plain): StateReturn | undefined =>
  env !== null && typeof env !== 'object'
    ? failed(name, "Invalidly-formatted 'env' parameter. See documentation.")
    : undefined;

/** In test mode a stateful command is not asked, so there is nothing to read back: as Salt, no comment. */
const wouldRun = (name: string, comment: string, stateful: Plain): StateReturn => ({
  name,
  changes: {},
  result: null,
  comment: isStateful(stateful) ? '' : comment,
});

const finish = (
  name: string,
  outcome: PlainDict,
  comment: string,
  stateful: Plain,
): StateReturn => {
  const plain: StateReturn = { name, changes: outcome, result: outcome.retcode === 0, comment };
  const state = isStateful(stateful) ? readStateful(plain) : plain;
  return __opts__.test && outcome.retcode === 0 && Object.keys(state.changes).length > 0
    ? { ...state, result: null }
    : state;
};

/** The command's own report: JSON, or `name=value` words in the last line. */
const readStateful = (state: StateReturn): StateReturn => {
  const outcome = state.changes;
  const text = String(outcome.stdout ?? '');
  if (text === '') return { ...state, changes: {}, comment: String(outcome.stderr ?? '') };
  const json = parseJson(text);
  if (json !== undefined && !isPlainDict(json))
    return {
      ...state,
      changes: {},
      result: false,
      comment: 'script JSON output must be a JSON object (e.g., {})!',
    };
  const newline = text.trimEnd().lastIndexOf('\n');
  const words = json ?? parseWords(newline === -1 ? text : text.slice(newline + 1));
  if (!words)
    return {
      ...state,
      changes: outcome,
      result: false,
      comment: 'Failed parsing script output! Stdout must be JSON or a line of name=value pairs.',
    };
  const { comment = '', ...data } = words;
  const changed = isTrue(data.changed ?? 'no');
  if (changed === undefined)
    return {
      ...state,
      result: false,
      comment: `Failed parsing boolean value: ${pyStr(data.changed)}`,
    };
  if (!changed) return { ...state, changes: {}, comment: pyStr(comment) };
  const all: PlainDict = { ...data };
  for (const [key, value] of Object.entries(outcome)) if (!(key in all)) all[key] = value;
  // Salt cuts the last line off the output, and one character of a single line.
  const shown = String(all.stdout ?? '');
  all.stdout = json ? '' : newline === -1 ? shown.slice(0, -1) : shown.slice(0, newline);
  return { ...state, changes: all, comment: pyStr(comment) };
};

const parseJson = (text: string): Plain | undefined => {
  try {
    return JSON.parse(text) as Plain;
  } catch {
    return undefined;
  }
};

const parseWords = (line: string): PlainDict | undefined => {
  try {
    const pairs = splitWords(line).map(word => word.split('='));
    if (pairs.some(pair => pair.length !== 2)) return undefined;
    return Object.fromEntries(pairs as [string, string][]);
  } catch {
    return undefined;
  }
};

const isTrue = (value: Plain): boolean | undefined => {
  const text = pyStr(value).toLowerCase();
  if (['true', 'yes', '1'].includes(text)) return true;
  if (['false', 'no', '0'].includes(text)) return false;
  return undefined;
};

const isFolder = (path: string): boolean => {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
};

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
