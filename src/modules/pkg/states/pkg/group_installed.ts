import { messageOf } from '../../../../protocol/error.ts';
import { hasFunction, salt } from '../../../_shared/states/call.ts';
import { changed, failed, inPlan, unchanged, would } from '../../../_shared/states/returns.ts';
import { __opts__, type PlainDict, type StateReturn } from '../../../api.ts';
import { currentPackages, repoChoice } from '../../desired-packages.ts';
import { PackageError } from '../../packages.ts';

/**
 * A package group is installed (yum, dnf, pacman).
 *
 * @param name the group
 * @param skip default packages of it to leave out
 * @param include further packages
 * @example
 * Development Tools:
 *   pkg.group_installed
 */
export const group_installed = async (
  name: string,
  {
    skip = null,
    include = null,
    ...rest
  }: { skip?: string[] | null; include?: string[] | null; [other: string]: unknown } = {},
): Promise<StateReturn> => {
  if (!hasFunction('pkg.group_diff'))
    return failed(name, 'pkg.group_install not available for this platform');
  for (const [argument, value] of Object.entries({ skip, include }))
    if (value !== null && !Array.isArray(value))
      return failed(name, `${argument} must be formatted as a list`);
  let diff: { [kind: string]: { installed: string[]; 'not installed': string[] } };
  try {
    const { fromrepo, ...repos } = rest;
    const choice = { ...repoChoice(repos), ...(fromrepo ? { fromrepo } : {}) };
    diff = await salt('pkg.group_diff')(name, ...(Object.keys(choice).length > 0 ? [choice] : []));
  } catch (error) {
    return failed(
      name,
      `An error was encountered while installing/updating group '${name}': ${messageOf(error)}.`,
    );
  }
  const of = (kind: string, which: 'installed' | 'not installed'): string[] =>
    diff[kind]?.[which] ?? [];
  const mandatory = [...of('mandatory', 'installed'), ...of('mandatory', 'not installed')];
  const invalid = mandatory.filter(one => skip?.includes(one));
  if (invalid.length > 0)
    return failed(
      name,
      `The following mandatory packages cannot be skipped: ${invalid.join(', ')}`,
    );
  const targets = [
    ...of('mandatory', 'not installed'),
    ...of('default', 'not installed').filter(one => !skip?.includes(one)),
    ...(include ?? []).map(String),
  ];
  if (targets.length === 0) return unchanged(name, `Group '${name}' is already installed`);
  const partly = ['mandatory', 'default', 'optional'].some(
    kind => of(kind, 'installed').length > 0,
  );
  if (__opts__.test)
    return would(
      name,
      partly
        ? `Group '${name}' is partially installed and will be updated`
        : `Group '${name}' will be installed`,
      inPlan(Object.fromEntries(targets.map(one => [one, { old: '', new: 'installed' }]))),
    );
  let changes: PlainDict;
  try {
    changes = await salt('pkg.install')(null, { ...rest, pkgs: targets });
  } catch (error) {
    return failed(
      name,
      error instanceof PackageError
        ? error.message
        : `An error was encountered while installing/updating group '${name}': ${messageOf(error)}`,
      error instanceof PackageError ? error.changes : {},
    );
  }
  const current = await currentPackages();
  const missing = targets.filter(one => !current[one]);
  return missing.length > 0
    ? failed(name, `Failed to install the following packages: ${missing.join(', ')}`, changes)
    : changed(name, `Group '${name}' was ${partly ? 'updated' : 'installed'}`, changes);
};
