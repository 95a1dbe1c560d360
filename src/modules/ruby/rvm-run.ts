import { runCommand } from '../_shared/commands/run-command.ts';
import { expandUser, isFile } from '../_shared/files/file-paths.ts';
import { configText } from '../_shared/states/config-option.ts';
import { repackDictList } from '../_shared/states/values.ts';
import { plainStr } from '../_shared/text/python-text.ts';
import type { Plain } from '../api.ts';
import { __context__ } from '../api.ts';

/** How rvm runs. */
export type RvmWhere = {
  /** the account to run as; `rvm.runas` of the configuration when not given */
  runas?: string | null;
  /** the folder to run in */
  cwd?: string | null;
  /** variables for rvm */
  env?: Plain;
};

/** The account that rvm runs as. */
export const rvmUser = async (runas: string | null | undefined): Promise<string | null> =>
  runas || ((await configText('rvm.runas')) ?? null);

/** The rvm of an account's home, or that of the whole system; undefined when there is none. */
export const rvmPath = (runas: string | null | undefined): string | undefined =>
  [...(runas ? [expandUser(`~${runas}/.rvm/bin/rvm`)] : []), '/usr/local/rvm/bin/rvm'].find(isFile);

/** The output of rvm; false when it failed or is missing. */
export const runRvm = async (
  words: readonly string[],
  where: RvmWhere,
): Promise<string | false> => {
  const runas = await rvmUser(where.runas);
  const program = rvmPath(runas);
  if (program === undefined) return false;
  const { code, stdout, stderr } = await runCommand([program, ...words], {
    plainLocale: true,
    ...(where.cwd ? { cwd: where.cwd } : {}),
    ...(runas ? { runas } : {}),
    env: Object.fromEntries(
      Object.entries(repackDictList(where.env)).map(([name, value]) => [name, plainStr(value)]),
    ),
  });
  __context__[failure] = code === 0 ? '' : (stderr.trim() || stdout.trim()).slice(-2000);
  return code === 0 ? stdout.replace(/\n+$/, '') : false;
};

const failure = '__rvm_failure__';

/** Why the last run of rvm failed, in its words. */
export const rvmFailure = (): string => String(__context__[failure] ?? '');
