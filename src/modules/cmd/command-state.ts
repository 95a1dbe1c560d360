import { isPlainDict } from '../../protocol/plain.ts';
import { statSync } from '../_shared/safe-fs/fs.ts';
import { failed } from '../_shared/states/returns.ts';
import { splitCommandArgs } from '../_shared/text/command-args.ts';
import { plainStr } from '../_shared/text/python-text.ts';
import { __opts__, type Plain, type PlainDict, type StateReturn } from '../api.ts';

/** The arguments that all states which run a command accept. */
export type CommandArguments = {
  /** the folder to run in */
  cwd?: string | null;
  /** the account to run as */
  runas?: string | null;
  group?: string | null;
  /** the shell */
  shell?: string | null;
  /** variables to add, a dict or a list of dicts */
  env?: Plain;
  prepend_path?: string | null;
  /** as in `cmd.run` */
  stateful?: Plain;
  /** level at which the output is logged */
  output_loglevel?: string;
  /** true: the output is not in the result */
  hide_output?: boolean;
  /** seconds after which the command is killed */
  timeout?: number | null;
  use_vt?: boolean;
  /** exit statuses that count as 0 */
  success_retcodes?: Plain;
  /** strings in stdout that count as success */
  success_stdout?: Plain;
  /** strings in stderr that count as success */
  success_stderr?: Plain;
  /** octal mask for new files */
  umask?: string | number | null;
  /** text for its standard input */
  stdin?: string | null;
  /** true: no variables but those of `env` */
  clean_env?: boolean;
  rstrip?: boolean;
  ignore_retcode?: boolean;
  /** true: start it and do not wait */
  bg?: boolean;
  /** has no effect: only needed on Windows */
  password?: string | null;
  /** only UTF-8 is supported; other encodings are refused */
  output_encoding?: string | null;
  reset_system_locale?: boolean;
};

export const testNameOf = (stateful: Plain): string | undefined => {
  const first = Array.isArray(stateful) ? stateful[0] : undefined;
  return isPlainDict(first) && typeof first.test_name === 'string' ? first.test_name : undefined;
};

/** The command to run: in test mode, the one that `stateful` names for it. */
export const commandIn = (name: string, stateful: Plain): string =>
  (__opts__.test ? testNameOf(stateful) : undefined) ?? name;

const isStateful = (stateful: Plain): boolean => stateful === true || Array.isArray(stateful);

/** Returns the reason why the arguments are invalid. */
export const wrongArguments = (
  name: string,
  { env = null, output_encoding = null }: CommandArguments,
): StateReturn | undefined => {
  if (env !== null && typeof env !== 'object')
    return failed(name, "Invalidly-formatted 'env' parameter. See documentation.");
  return output_encoding === null || /^utf[-_]?8$/i.test(output_encoding)
    ? undefined
    : failed(
        name,
        `'output_encoding: ${output_encoding}' is not supported: the output of commands is read as UTF-8`,
      );
};

/** In test mode a stateful command is not run, so it reports nothing: like Salt, no comment. */
export const wouldRun = (
  name: string,
  comment: string,
  stateful: Plain,
  changes: PlainDict = {},
): StateReturn => ({
  name,
  changes: isStateful(stateful) ? {} : changes,
  result: null,
  comment: isStateful(stateful) ? '' : comment,
});

/** Returns the state's result after the command ended. */
export const finish = (
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

/** Reads the command's own report: JSON, or `name=value` words in the last line. */
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
      comment: `Failed parsing boolean value: ${plainStr(data.changed)}`,
    };
  if (!changed) return { ...state, changes: {}, comment: plainStr(comment) };
  const all: PlainDict = { ...data };
  for (const [key, value] of Object.entries(outcome)) if (!(key in all)) all[key] = value;
  // Like Salt, drops the last line of the output, or one character of a single line.
  const shown = String(all.stdout ?? '');
  all.stdout = json ? '' : newline === -1 ? shown.slice(0, -1) : shown.slice(0, newline);
  return { ...state, changes: all, comment: plainStr(comment) };
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
    const pairs = splitCommandArgs(line).map(word => word.split('='));
    if (pairs.some(pair => pair.length !== 2)) return undefined;
    return Object.fromEntries(pairs as [string, string][]);
  } catch {
    return undefined;
  }
};

const isTrue = (value: Plain): boolean | undefined => {
  const text = plainStr(value).toLowerCase();
  if (['true', 'yes', '1'].includes(text)) return true;
  if (['false', 'no', '0'].includes(text)) return false;
  return undefined;
};

export const isExistingFolder = (path: string): boolean => {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
};
