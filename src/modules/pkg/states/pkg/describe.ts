import { hasFunction } from '../../../_shared/states/call.ts';
import { type Description, describedState } from '../../../_shared/states/describe.ts';
import { currentPackages } from '../../desired-packages.ts';
import { heldPackages } from '../../package-holds.ts';

/**
 * Describes all installed packages with their versions, and those that are held.
 *
 * @returns `packages` (one `pkg.installed`), and `held packages` if any
 */
export const describe = async (): Promise<Description> => {
  const packages = Object.entries(await currentPackages()).sort(([a], [b]) => (a < b ? -1 : 1));
  const held = hasFunction('pkg.hold') ? await heldPackages() : [];
  // One state cannot require several versions of a package (kernels).
  const pkgs = packages.map(([name, [version = '', ...more]]) =>
    version === '' || more.length > 0 ? name : { [name]: version },
  );
  return {
    ...(pkgs.length > 0 ? { packages: describedState('pkg.installed', { pkgs }) } : {}),
    ...(held.length > 0
      ? { 'held packages': describedState('pkg.held', { pkgs: held.toSorted() }) }
      : {}),
  };
};
