import { extname, join } from 'node:path';
import { uidOf } from '../../../_shared/files/owner-names.ts';
import { makeTempFolder, removeTemp } from '../../../_shared/files/temporary.ts';
import { chmod, chown, writeFile } from '../../../_shared/safe-fs/promises.ts';
import { fetchScript } from '../../../_shared/sources/fetch-script.ts';
import { toList } from '../../../_shared/states/values.ts';
import { quoteArg } from '../../../_shared/text/command-args.ts';
import type { Plain, PlainDict } from '../../../api.ts';
import type { CommandRunOptions, RunAllResult } from '../../cmd-options.ts';
import { run_all } from './run.ts';

/** Makes a program readable only for the account that runs it, by changing its owner. */
const handTo = async (runas: string | null | undefined, ...paths: string[]): Promise<void> => {
  const owner = runas ? uidOf(runas) : undefined;
  if (owner !== undefined) for (const path of paths) await chown(path, owner, -1);
};

type ScriptOptions = {
  /** arguments for the script, one text */
  args?: string | null;
} & CommandRunOptions & {
    /** render it on the control node first, with this renderer */
    template?: string | null;
    /** the environment to fetch it from */
    saltenv?: string | null;
    /** variables for the template */
    context?: PlainDict;
  };

/**
 * Fetches a script from the file server and runs it. Arguments as `cmd.run_all`.
 *
 * @param source `salt://…`, a URL or a path on the host
 * @example tsalt-ssh '*' cmd.script salt://scripts/setup.sh args='a b'
 */
export const script = async (
  source: string,
  { args = null, ...given }: ScriptOptions = {},
): Promise<RunAllResult & { cache_error?: boolean }> => {
  const { template, saltenv: named, context = {}, ...options } = given;
  const saltenv = named ?? 'base';
  const missing = { pid: 0, retcode: 1, stdout: '', stderr: '', cache_error: true };
  const folder = makeTempFolder('tsalt-script-');
  const path = join(folder, `script${extname(source.split('?')[0] ?? '')}`);
  try {
    if (!(await fetchScript(source, path, { saltenv, template, context }))) return missing;
    await chmod(path, 0o500);
    await handTo(options.runas, path, folder);
    const line = args ? `${quoteArg(path)} ${args}` : quoteArg(path);
    return await run_all(line, { ...options, python_shell: true });
  } finally {
    removeTemp(folder);
  }
};

/**
 * Runs a script like `cmd.script` and returns only its exit status.
 *
 * @param source `salt://…`, a URL or a path on the host
 * @example tsalt-ssh '*' cmd.script_retcode salt://scripts/check.sh
 */
export const script_retcode = async (
  source: string,
  { args = null, ...options }: ScriptOptions = {},
): Promise<number> => (await script(source, { args, ...options })).retcode;

/**
 * Runs source code with an interpreter and returns its stdout.
 *
 * @param lang the interpreter, e.g. `bash` or `perl`
 * @param code the source code, a string or a list of lines
 * @param cwd the folder to run in
 * @param args arguments for the program
 * @example tsalt-ssh '*' cmd.exec_code bash 'echo "$1"' args='[hello]'
 */
export const exec_code = async (
  lang: string,
  code: string | string[],
  {
    cwd = null,
    args = null,
    ...options
  }: { cwd?: string | null; args?: Plain } & CommandRunOptions = {},
): Promise<string> => (await exec_code_all(lang, code, { cwd, args, ...options })).stdout;

/**
 * Runs source code with an interpreter and returns pid, retcode, stdout and stderr.
 *
 * @param lang the interpreter, e.g. `bash` or `perl`
 * @param code the source code, a string or a list of lines
 * @param cwd the folder to run in
 * @param args arguments for the program
 * @example tsalt-ssh '*' cmd.exec_code_all perl 'print "hi"'
 */
export const exec_code_all = async (
  lang: string,
  code: string | string[],
  {
    cwd = null,
    args = null,
    ...options
  }: { cwd?: string | null; args?: Plain } & CommandRunOptions = {},
): Promise<RunAllResult> => {
  const folder = makeTempFolder('tsalt-code-');
  try {
    const file = join(folder, 'code');
    await writeFile(file, Array.isArray(code) ? `${code.join('\n')}\n` : code, { mode: 0o600 });
    await handTo(options.runas, file, folder);
    return await run_all([lang, file, ...toList(args)], { ...options, cwd });
  } finally {
    removeTemp(folder);
  }
};
