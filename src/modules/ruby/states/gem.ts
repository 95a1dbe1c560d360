/** Packages of Ruby. */
import { messageOf } from '../../../protocol/error.ts';
import { redact } from '../../_shared/sources/url-login.ts';
import { hasFunction, salt } from '../../_shared/states/call.ts';
import { changed, failed, inPlan, unchanged, would } from '../../_shared/states/returns.ts';
import { isUserToCome } from '../../_shared/states/to-come.ts';
import { __opts__, type StateReturn } from '../../api.ts';
import { fulfillsGem } from '../gem-version.ts';

export const __virtual__ = (): true | [false, string] =>
  hasFunction('gem.list') || [false, 'gem.list is not available on this host.'];

type InstalledOptions = {
  version?: string | null;
  ruby?: string | null;
  user?: string | null;
  gem_bin?: string | null;
  rdoc?: boolean;
  ri?: boolean;
  pre_releases?: boolean;
  proxy?: string | null;
  source?: string | null;
};

/**
 * A Ruby gem is installed.
 *
 * @param name the gem
 * @param version a version, or `>=1.2`, `~> 1.2`, several of them with commas
 * @param ruby a ruby of RVM, or ruby and gemset; not with `gem_bin`. One of rbenv is not looked for
 * @param user the account to run as
 * @param gem_bin the path of gem
 * @param rdoc true: with documentation
 * @param ri true: with ri documentation
 * @param pre_releases true: pre-releases too
 * @param proxy a proxy
 * @param source the place to fetch from
 * @example
 * bundler:
 *   gem.installed
 */
export const installed = async (
  name: string,
  { version = null, ruby = null, user = null, gem_bin = null, ...options }: InstalledOptions = {},
): Promise<StateReturn> => {
  try {
    const gems: { [gem: string]: string[] } = isUserToCome(user)
      ? {}
      : await salt('gem.list')(name, { ruby, gem_bin, runas: user });
    const have = gems[name] ?? [];
    if (have.length > 0 && (version === null || fulfillsGem(have, version)))
      return unchanged(
        name,
        version !== null && /^[<>~]/.test(version)
          ? 'Installed Gem meets version requirements.'
          : 'Gem is already installed.',
      );
    if (__opts__.test)
      return would(
        name,
        `The gem ${name} would have been installed`,
        inPlan({ [name]: 'Installed' }),
      );
    await salt('gem.install')(name, { ...options, version, ruby, gem_bin, runas: user });
    return changed(name, 'Gem was successfully installed', { [name]: 'Installed' });
  } catch (error) {
    return failed(name, `Could not install gem. ${messageOf(error)}`);
  }
};

/**
 * A Ruby gem is not installed.
 *
 * @param name the gem
 * @param ruby a ruby of RVM, or ruby and gemset; not with `gem_bin`. One of rbenv is not looked for
 * @param user the account to run as
 * @param gem_bin the path of gem
 * @example
 * bundler:
 *   gem.removed
 */
export const removed = async (
  name: string,
  {
    ruby = null,
    user = null,
    gem_bin = null,
  }: { ruby?: string | null; user?: string | null; gem_bin?: string | null } = {},
): Promise<StateReturn> => {
  try {
    const where = { ruby, gem_bin, runas: user };
    const gems: { [gem: string]: string[] } = await salt('gem.list')(name, where);
    if (!gems[name]) return unchanged(name, 'Gem is not installed.');
    if (__opts__.test)
      return would(name, `The gem ${name} would have been removed`, inPlan({ [name]: 'Removed' }));
    await salt('gem.uninstall')(name, where);
    return changed(name, 'Gem was successfully removed.', { [name]: 'Removed' });
  } catch (error) {
    return failed(name, `Could not remove gem. ${messageOf(error)}`);
  }
};

type SourceOptions = {
  /** a ruby of RVM; one of rbenv is not looked for */
  ruby?: string | null;
  /** the account to run as */
  user?: string | null;
};

/**
 * A place to fetch gems from is known.
 *
 * @param name its address
 * @example
 * https://gems.example.com/:
 *   gem.sources_add
 */
export const sources_add = async (
  name: string,
  { ruby = null, user = null }: SourceOptions = {},
): Promise<StateReturn> => {
  try {
    const where = { ruby, runas: user };
    const known: string[] = isUserToCome(user) ? [] : await salt('gem.sources_list')(where);
    if (known.includes(name)) return unchanged(name, 'Gem source is already added.');
    if (__opts__.test)
      return would(
        name,
        `The gem source ${redact(name)} would have been added.`,
        inPlan({ [redact(name)]: 'Installed' }),
      );
    await salt('gem.sources_add')(name, where);
    return changed(name, 'Gem source was successfully added.', { [redact(name)]: 'Installed' });
  } catch (error) {
    return failed(name, `Could not add gem source. ${messageOf(error)}`);
  }
};

/**
 * A place to fetch gems from is not known.
 *
 * @param name its address
 * @example
 * https://rubygems.org/:
 *   gem.sources_remove
 */
export const sources_remove = async (
  name: string,
  { ruby = null, user = null }: SourceOptions = {},
): Promise<StateReturn> => {
  try {
    const where = { ruby, runas: user };
    const known: string[] = isUserToCome(user) ? [] : await salt('gem.sources_list')(where);
    if (!known.includes(name)) return unchanged(name, 'Gem source is already removed.');
    if (__opts__.test)
      return would(
        name,
        'The gem source would have been removed.',
        inPlan({ [redact(name)]: 'Removed' }),
      );
    await salt('gem.sources_remove')(name, where);
    return changed(name, 'Gem source was successfully removed.', { [redact(name)]: 'Removed' });
  } catch (error) {
    return failed(name, `Could not remove gem source. ${messageOf(error)}`);
  }
};
