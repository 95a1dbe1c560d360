import { __opts__, CommandExecutionError, SaltInvocationError } from '../../../api.ts';
import { apt, selectionsByName } from '../../apt-run.ts';
import {
  forgetPackages,
  type PackageChanges,
  type PackageList,
  packageChanges,
} from '../../packages.ts';
import { list_pkgs } from './list.ts';

/**
 * dpkg's selections: names by state (`install`, `hold`, `deinstall`, `purge`).
 *
 * @param pattern names that match this glob only
 * @param state this state only
 * @example tsalt-ssh '*' pkg.get_selections state=hold
 */
export const get_selections = async ({
  pattern = null,
  state = null,
}: {
  pattern?: string | null;
  state?: string | null;
} = {}): Promise<{
  [state: string]: string[];
}> => {
  const { stdout } = await apt(['--get-selections', pattern ?? '*'], { program: 'dpkg' });
  const states: { [state: string]: string[] } = {};
  for (const line of stdout.split('\n')) {
    const [name, found] = line.trim().split(/\s+/);
    if (name && found) states[found] = [...(states[found] ?? []), name];
  }
  return state === null ? states : { [state]: states[state] ?? [] };
};

/**
 * Changes dpkg's selections and returns the changes.
 *
 * @param selection names by state, e.g. `{hold: [nginx]}`
 * @param clear true: mark all other packages to be removed
 * @example tsalt-ssh '*' pkg.set_selections selection='{hold: [nginx]}'
 */
export const set_selections = async ({
  selection,
  clear = false,
}: {
  selection: { [state: string]: string[] };
  clear?: boolean;
}): Promise<{ [name: string]: { old: string; new: string } }> => {
  const valid = ['install', 'hold', 'deinstall', 'purge'];
  const bad = Object.keys(selection).filter(state => !valid.includes(state));
  if (bad.length > 0) throw new SaltInvocationError(`Invalid state(s): ${bad.join(', ')}`);
  const before = await selectionsByName();
  const due = Object.entries(selection).flatMap(([state, names]) =>
    names.filter(name => before.get(name) !== state).map(name => [name, state] as const),
  );
  if (__opts__.test || (due.length === 0 && !clear)) return {};
  if (clear) await apt(['--clear-selections'], { program: 'dpkg' });
  const stdin = due.map(([name, state]) => `${name} ${state}\n`).join('');
  const { code, stderr } = await apt(['--set-selections'], { program: 'dpkg', stdin });
  if (code !== 0) throw new CommandExecutionError(`dpkg --set-selections failed: ${stderr}`);
  forgetPackages();
  return Object.fromEntries(
    due.map(([name, state]) => [name, { old: before.get(name) ?? '', new: state }]),
  );
};

/**
 * Unmarks packages for purging that are still installed.
 *
 * @param packages names of packages
 * @example tsalt-ssh '*' pkg.unpurge nginx
 */
export const unpurge = async (...packages: string[]): Promise<PackageChanges> => {
  const before = await list_pkgs({ purge_desired: true, versions_as_list: true });
  const lines = packages.map(name => `${name} install\n`).join('');
  await apt(['--set-selections'], { program: 'dpkg', stdin: lines });
  forgetPackages();
  const after = await list_pkgs({ purge_desired: true, versions_as_list: true });
  return packageChanges(before as PackageList, after as PackageList);
};
