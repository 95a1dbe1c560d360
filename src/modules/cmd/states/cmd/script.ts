import { messageOf } from '../../../../protocol/error.ts';
import { isPlainDict } from '../../../../protocol/plain.ts';
import { failed, newReturn } from '../../../_shared/states/returns.ts';
import {
  __env__,
  __grains__,
  __opts__,
  __salt__,
  type PlainDict,
  type StateReturn,
} from '../../../api.ts';
import {
  type CommandArguments,
  commandIn,
  finish,
  isExistingFolder,
  testNameOf,
  wouldRun,
  wrongArguments,
} from '../../command-state.ts';

export type ScriptArguments = CommandArguments & {
  /** `salt://…`, a URL or a path on the host */
  source?: string | null;
  template?: string | null;
  args?: string | null;
  defaults?: PlainDict | null;
  context?: PlainDict | null;
};

/**
 * Fetches a script from the file server and runs it.
 *
 * @param name the source, with arguments after it; or any name when `source` is given
 * @param template render it on the control node first, with this renderer
 * @param args arguments for the script
 * @param timeout seconds after which the script is killed
 * @param defaults variables for the template
 * @param context variables for the template that override `defaults`
 * @param reset_system_locale false: the script keeps the locale of the login
 * @unknown variables
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
    reset_system_locale = true,
    output_encoding = null,
    password: _password = null,
  }: ScriptArguments = {},
): Promise<StateReturn> => {
  const line = commandIn(name, stateful);
  const refused = wrongArguments(name, { env, output_encoding });
  if (refused) return refused;
  for (const [argument, value] of Object.entries({ context, defaults }))
    if (value && !isPlainDict(value))
      return failed(name, `Invalidly-formatted '${argument}' parameter. Must be formed as a dict.`);
  if (__opts__.test && !testNameOf(stateful))
    return wouldRun(name, `Command '${line}' would have been executed`, stateful);
  if (cwd && !isExistingFolder(cwd))
    return failed(name, `Desired working directory "${cwd}" is not available`);
  const [first = line, ...rest] = line.split(' ');
  let outcome: PlainDict;
  try {
    outcome = await __salt__['cmd.script'](source ?? first, {
      args: args ?? (rest.length > 0 ? rest.join(' ') : null),
      template,
      saltenv: String(__env__),
      context: { ...defaults, ...context },
      cwd,
      runas,
      group,
      shell: shell ?? __grains__.shell ?? '/bin/sh',
      env: env as PlainDict | PlainDict[] | null,
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
      reset_system_locale,
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
 * @unknown ignored
 * @example
 * salt://scripts/rebuild.sh:
 *   cmd.wait_script:
 *     - watch:
 *       - file: /etc/tool.conf
 */
export const wait_script = async (
  name: string,
  { ...options }: ScriptArguments = {},
): Promise<StateReturn> => wrongArguments(name, options) ?? newReturn(name);
