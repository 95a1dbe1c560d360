import { runPlain } from '../../../_shared/files/selinux-run.ts';
import { salt } from '../../../_shared/states/call.ts';
import { CommandExecutionError, SaltInvocationError } from '../../../api.ts';

type Module_ = { Enabled: boolean; Version: string | null };

/**
 * Lists the modules of the policy, whether they are enabled, and their versions if known.
 *
 * @example tsalt-ssh '*' selinux.list_semod
 */
export const list_semod = async (): Promise<{ [name: string]: Module_ }> => {
  const full = await runPlain(['semodule', '-lfull']);
  if (full.code === 0) return _parseFullModules(full.stdout);
  return _parseModules((await runPlain(['semodule', '-l'])).stdout);
};

/** Lines of `priority name language [disabled]`. */
export const _parseFullModules = (text: string): { [name: string]: Module_ } =>
  Object.fromEntries(
    text.split('\n').flatMap(line => {
      const [, name, , state] = line.trim().split(/\s+/);
      return name ? [[name, { Enabled: state !== 'disabled', Version: null }]] : [];
    }),
  );

/** Lines of `name version [Disabled]`, as semodule before 2.4 writes them. */
export const _parseModules = (text: string): { [name: string]: Module_ } =>
  Object.fromEntries(
    text.split('\n').flatMap(line => {
      const [name, version = '', state] = line.trim().split(/\s+/);
      return name ? [[name, { Enabled: state === undefined, Version: version }]] : [];
    }),
  );

/**
 * Returns a module of the policy; an empty dict when it does not exist.
 *
 * @param module its name
 * @example tsalt-ssh '*' selinux.getsemod mysql
 */
export const getsemod = async (module: string): Promise<Partial<Module_>> =>
  (await list_semod())[module] ?? {};

/**
 * Turns a module of the policy on or off.
 *
 * @param module its name
 * @param state `Enabled` or `Disabled`
 * @example tsalt-ssh '*' selinux.setsemod nagios Enabled
 */
export const setsemod = async (module: string, state: string): Promise<boolean> => {
  const flag = { enabled: '-e', disabled: '-d' }[state.toLowerCase()];
  if (flag === undefined) throw new SaltInvocationError(`Not a state of a module: ${state}`);
  return (await runPlain(['semodule', flag, module])).code === 0;
};

/**
 * Installs a module of the policy from a file.
 *
 * @param module_path the file: a path, or `salt://…`
 * @example tsalt-ssh '*' selinux.install_semod salt://selinux/mine.pp
 */
export const install_semod = async (module_path: string): Promise<boolean> => {
  const path: unknown = module_path.startsWith('salt://')
    ? await salt('cp.cache_file')(module_path)
    : module_path;
  if (typeof path !== 'string' || path === '')
    throw new CommandExecutionError(`There is no file ${module_path}.`);
  return (await runPlain(['semodule', '-i', path])).code === 0;
};

/**
 * Takes a module out of the policy.
 *
 * @param module its name
 * @example tsalt-ssh '*' selinux.remove_semod mine
 */
export const remove_semod = async (module: string): Promise<boolean> =>
  (await runPlain(['semodule', '-r', module])).code === 0;
