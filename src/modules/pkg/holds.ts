import { type Plain, type PlainDict, SaltInvocationError } from '../api.ts';
import { packageSources, targetsOf } from './packages.ts';

/** The arguments of `pkg.hold` and `pkg.unhold` besides a name. */
export type HoldOptions = { pkgs?: Plain; sources?: Plain; [other: string]: unknown };

export type HoldResults = {
  [name: string]: { name: string; changes: PlainDict; result: boolean | null; comment: string };
};

/** Returns the names of the packages: from a name, names, or the keys of sources. */
export const heldNames = (name: string | null, { pkgs, sources }: HoldOptions): string[] => {
  if (!name && !pkgs && !sources)
    throw new SaltInvocationError('One of name, pkgs, or sources must be specified.');
  if (pkgs && sources)
    throw new SaltInvocationError('Only one of pkgs or sources can be specified.');
  return sources
    ? [...packageSources(sources).keys()]
    : [...targetsOf(name, pkgs ?? undefined, undefined).keys()];
};
