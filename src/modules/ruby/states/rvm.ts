/** Rubies and gemsets by RVM. */
import { messageOf } from '../../../protocol/error.ts';
import { salt } from '../../_shared/states/call.ts';
import { changed, failed, unchanged, would } from '../../_shared/states/returns.ts';
import { __opts__, type Plain, type StateReturn } from '../../api.ts';
import { rvmFailure } from '../rvm-run.ts';

/**
 * A ruby is installed, and RVM itself, which is fetched when it is missing.
 *
 * @param name the ruby, as `ruby-3.2.2`, `3.2.2` or `jruby`
 * @param default true: it is the default
 * @param user the account whose RVM it is
 * @param opts further options for rvm
 * @param env variables for rvm
 * @example
 * ruby-3.2.2:
 *   rvm.installed:
 *     - default: true
 *     - user: rvm
 */
export const installed = async (
  name: string,
  {
    default: isDefault = false,
    user = null,
    opts = null,
    env = null,
  }: {
    default?: boolean;
    user?: string | null;
    opts?: string[] | null;
    env?: Plain;
  } = {},
): Promise<StateReturn> => {
  try {
    const there = await salt('rvm.is_installed')(user);
    const found = there ? await findRuby(name, user) : undefined;
    if (__opts__.test && (!found || (isDefault && !found.isDefault)))
      return found
        ? would(name, `Ruby ${name} is set to be the default`, { default: name })
        : would(name, `Ruby ${name} is set to be installed`, { [name]: 'Installed' });
    if (!there) await salt('rvm.install')(user);
    if (!found && (await salt('rvm.install_ruby')(name, user, { opts, env })) === false)
      return failed(name, withReason('Could not install ruby.'));
    const isNewDefault = isDefault && !found?.isDefault;
    if (isNewDefault && (await salt('rvm.set_default')(name, user)) === false)
      return failed(name, withReason(`Ruby ${name} could not be made the default.`));
    if (!found) return changed(name, 'Successfully installed ruby.', { [name]: 'Installed' });
    return isNewDefault
      ? changed(name, 'Requested ruby exists.', { default: name })
      : unchanged(name, 'Requested ruby exists.');
  } catch (error) {
    return failed(name, `RVM failed to install. ${messageOf(error)}`);
  }
};

/**
 * A gemset is there.
 *
 * @param name the gemset, or `ruby@gemset`
 * @param ruby the ruby it belongs to
 * @param user the account whose RVM it is
 * @example
 * 3.2.2@app:
 *   rvm.gemset_present:
 *     - user: rvm
 */
export const gemset_present = async (
  name: string,
  { ruby = 'default', user = null }: { ruby?: string; user?: string | null } = {},
): Promise<StateReturn> => {
  const at = name.indexOf('@');
  const gemset = name.slice(at + 1);
  const of = at < 0 ? ruby : name.slice(0, at);
  try {
    if (!(await salt('rvm.is_installed')(user))) return failed(name, 'RVM is not installed.');
    if (at >= 0 && !(await findRuby(of, user)))
      return failed(name, 'Requested ruby implementation was not found.');
    const all: string[] = await salt('rvm.gemset_list')(of, user);
    if (all.includes(gemset)) return unchanged(name, 'Gemset already exists.');
    const changes = { [gemset]: 'created' };
    if (__opts__.test) return would(name, `Set to install gemset ${gemset}`, changes);
    return (await salt('rvm.gemset_create')(of, gemset, user)) === false
      ? failed(name, withReason('Gemset could not be created.'))
      : changed(name, 'Gemset successfully created.', changes);
  } catch (error) {
    return failed(name, messageOf(error));
  }
};

const withReason = (text: string): string => `${text} ${rvmFailure()}`.trim();

/** The ruby of that name: a patch level counts when it is named, and a bare word is an implementation. */
const findRuby = async (
  name: string,
  user: string | null,
): Promise<{ isDefault: boolean } | undefined> => {
  const micro = /-([0-9]{4}\.[0-9]{2}|p[0-9]+)$/;
  const wanted = name.replace(/^ruby-/, '');
  const all: [string, string, boolean][] = await salt('rvm.list')(user);
  const found = all.find(([implementation, number]) => {
    const full = implementation === 'ruby' ? number : `${implementation}-${number}`;
    const version = micro.test(name) ? full : full.replace(micro, '');
    return wanted === (/^[a-z]+$/.test(name) ? version.replace(/-.*/s, '') : version);
  });
  return found && { isDefault: found[2] };
};
