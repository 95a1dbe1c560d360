import { hasFunction, salt } from '../../../_shared/states/call.ts';
import { failed, inPlan, unchanged } from '../../../_shared/states/returns.ts';
import { __opts__, type Plain, type PlainDict, type StateReturn } from '../../../api.ts';
import { heldPackages } from '../../package-holds.ts';
import { parsePackageArguments } from '../../packages.ts';

type HeldOptions = {
  version?: Plain;
  /** a list of names */
  pkgs?: Plain;
  replace?: boolean;
  all?: boolean;
  [other: string]: unknown;
};

/**
 * Packages are kept at their version.
 *
 * @param name a package; not used when `pkgs` is given
 * @param version the version to keep (zypper)
 * @param replace true: let all other packages be upgraded
 * @example
 * kernel:
 *   pkg.held:
 *     - pkgs: [linux-image-amd64]
 */
export const held = async (
  name: string,
  { version = null, pkgs = null, replace = false }: HeldOptions = {},
): Promise<StateReturn> => {
  if (Array.isArray(pkgs) && pkgs.length === 0 && !replace)
    return unchanged(name, 'No packages to be held provided');
  if (!hasFunction('pkg.hold'))
    return failed(name, '`hold` function is not implemented for the package manager.');
  const wanted = parsePackageArguments(pkgs ?? [version === null ? name : { [name]: version }]);
  const locks = await heldPackages();
  const missing = [...wanted.keys()].filter(one => !locks.includes(one));
  const extra = replace ? locks.filter(one => !wanted.has(one)) : [];
  if (__opts__.test)
    return holdReport(
      name,
      [
        ...missing.map(one => `The following package would be held: ${one}`),
        ...extra.map(one => `The following package would be unheld: ${one}`),
      ],
      inPlan({ ...holds(missing, 'hold'), ...holds(extra, 'install') }),
      true,
    );
  const results = missing.length > 0 ? await salt('pkg.hold')(null, { pkgs: missing }) : {};
  const lifted = extra.length > 0 ? await salt('pkg.unhold')(null, { pkgs: extra }) : {};
  const ok = [...Object.values(results), ...Object.values(lifted)].every(
    one => (one as { result: boolean }).result,
  );
  const comments = [
    ...missing.map(one =>
      results[one]?.result ? `Package ${one} is now being held` : `Package ${one} was not held`,
    ),
    ...Object.values(lifted).map(one => (one as { comment: string }).comment),
  ];
  return holdReport(name, comments, { ...results, ...lifted }, ok);
};

/**
 * Packages may be upgraded.
 *
 * @param name a package; not used when `pkgs` is given
 * @param all true: all packages
 * @example
 * nginx:
 *   pkg.unheld
 */
export const unheld = async (
  name: string,
  { version = null, pkgs = null, all = false }: HeldOptions = {},
): Promise<StateReturn> => {
  if (Array.isArray(pkgs) && pkgs.length === 0 && !all)
    return unchanged(name, 'No packages to be unheld provided');
  if (!hasFunction('pkg.unhold'))
    return failed(name, '`unhold` function is not implemented for the package manager.');
  const wanted = parsePackageArguments(pkgs ?? [version === null ? name : { [name]: version }]);
  const due = (await heldPackages()).filter(one => all || wanted.has(one));
  if (__opts__.test)
    return holdReport(
      name,
      due.map(one => `The following package would be unheld: ${one}`),
      inPlan(holds(due, 'install')),
      true,
    );
  const results = due.length > 0 ? await salt('pkg.unhold')(null, { pkgs: due }) : {};
  const all_ = Object.values(results) as { result: boolean; comment: string }[];
  return holdReport(
    name,
    all_.map(one => one.comment),
    results,
    all_.every(one => one.result),
  );
};

/** Returns dpkg's marks of packages, before and after. */
const holds = (packages: readonly string[], mark: 'hold' | 'install'): PlainDict =>
  Object.fromEntries(
    packages.map(one => [one, { old: mark === 'hold' ? 'install' : 'hold', new: mark }]),
  );

const holdReport = (
  name: string,
  comments: string[],
  changes: PlainDict,
  ok: boolean,
): StateReturn => ({
  name,
  changes,
  result: !ok ? false : __opts__.test && comments.length > 0 ? null : true,
  comment: comments.length > 0 ? comments.join('\n') : 'No changes made',
});
