/** Manages sources of packages: apt, yum, dnf and zypper. */

import { messageOf } from '../../../protocol/error.ts';
import { hasFunction, salt } from '../../_shared/states/call.ts';
import { changed, failed, inPlan, unchanged, would } from '../../_shared/states/returns.ts';
import { plainRepr, plainStr } from '../../_shared/text/python-text.ts';
import {
  __env__,
  __grains__,
  __opts__,
  type Plain,
  type PlainDict,
  type StateReturn,
} from '../../api.ts';
import { hasRepo } from '../apt-repos.ts';
import { makeRefreshDue } from '../packages.ts';

export const __virtual__ = (): true | [false, string] =>
  hasFunction('pkg.mod_repo') || [false, 'pkg.mod_repo is not available on this host.'];

type ManagedOptions = {
  /** a personal archive, `OWNER/NAME` (Ubuntu) */
  ppa?: string | null;
  /** a Copr project, `OWNER/NAME` (Fedora) */
  copr?: string | null;
  humanname?: string | null;
  baseurl?: string | null;
  mirrorlist?: string | null;
  metalink?: string | null;
  enabled?: boolean | number | null;
  disabled?: boolean | number | null;
  key_url?: string | null;
  key_text?: string | null;
  keyid?: Plain;
  keyserver?: string | null;
  allow_insecure_key?: boolean;
  aptkey?: boolean;
  keydir?: string | null;
  file?: string | null;
  clean_file?: boolean;
  comps?: Plain;
  dist?: string | null;
  architectures?: Plain;
  comments?: Plain;
  signedby?: string | null;
  refresh?: boolean;
  refresh_db?: boolean;
  consolidate?: boolean;
  [other: string]: Plain | undefined;
};

/**
 * A source of packages exists, with these properties.
 *
 * @param name on Debian its line as in sources.list; elsewhere its id
 * @param humanname its name for people (yum, zypper)
 * @param baseurl its address (yum, zypper)
 * @param mirrorlist the address of its list of mirrors (yum)
 * @param enabled false: it is switched off
 * @param disabled true: it is switched off
 * @param file the file for a new source; on Debian `.sources` for the newer format
 * @param clean_file true: empty that file first
 * @param comps its components (Debian)
 * @param architectures its architectures (Debian)
 * @param comments a comment for it
 * @param key_url where its key is: `https://…`, `salt://…` or a path
 * @param key_text its key, armored
 * @param keyid the key's id, fetched from `keyserver` and checked
 * @param keyserver a key server
 * @param signedby the file of its key; `signed-by` in the line does the same
 * @param allow_insecure_key false: refuse a key that comes over plain http
 * @param aptkey taken for Salt's sake: keys are files, apt-key is never used
 * @param refresh false: do not fetch the package lists afterwards; with zypper true: it fetches the
 * data of this repository by itself
 * @example
 * deb [signed-by=/etc/apt/keyrings/docker.asc] https://download.docker.com/linux/debian bookworm stable:
 *   pkgrepo.managed:
 *     - file: /etc/apt/sources.list.d/docker.list
 *     - key_url: https://download.docker.com/linux/debian/gpg
 */
export const managed = async (
  name: string,
  { ppa = null, copr = null, allow_insecure_key = true, ...rest }: ManagedOptions = {},
): Promise<StateReturn> => {
  const refused = refusal(rest, allow_insecure_key);
  if (refused) return failed(name, refused);
  const repo = repoNamed(name, ppa, copr);
  const options = { ...rest, ...switches(name, rest) };
  let before: PlainDict;
  let wanted: PlainDict;
  try {
    before = await salt('pkg.get_repo')(repo, options);
    wanted = isDebian()
      ? await salt('pkg.expand_repo_def')(repo, options)
      : { ...sanitized(options), ...fetching(rest) };
  } catch (error) {
    return failed(name, `Failed to examine repo '${name}': ${messageOf(error)}`);
  }
  const exists = Object.keys(before).length > 0;
  if (exists && isAsWanted(before, wanted, options))
    return unchanged(name, `Package repo '${name}' already configured`);
  if (__opts__.test)
    return would(
      name,
      `Package repo '${name}' would be configured. This may cause pkg states to behave differently than stated if this action is repeated without test=True, due to the differences in the configured repositories.`,
      exists ? changesOf(wanted, before, wanted) : { repo: name },
    );
  try {
    await salt('pkg.mod_repo')(repo, { saltenv: String(__env__), ...options });
    const after: PlainDict = await salt('pkg.get_repo')(repo, options);
    if (rest.refresh === false || rest.refresh_db === false) makeRefreshDue();
    return changed(
      name,
      `Configured package repo '${name}'`,
      exists ? changesOf(wanted, before, after) : { repo },
    );
  } catch (error) {
    return failed(name, `Failed to configure repo '${name}': ${messageOf(error)}`);
  }
};

/**
 * A source of packages does not exist. On Debian, only the components in its line are removed, or
 * all if the line has none.
 *
 * @param name on Debian its line as in sources.list; elsewhere its id
 * @param keyid the id of its key, which goes with it (Debian): from what apt trusts for every source
 * @param aptkey false: the key is in a folder of key rings
 * @param keydir that folder, `/etc/apt/keyrings` by default
 * @param refresh false: do not fetch the package lists afterwards
 * @example
 * deb http://deb.example.com/ old main:
 *   pkgrepo.absent
 */
export const absent = async (
  name: string,
  { ppa = null, copr = null, ...rest }: ManagedOptions = {},
): Promise<StateReturn> => {
  const repo = repoNamed(name, ppa, copr);
  try {
    if (!(await isThere(repo, rest))) return unchanged(name, `Package repo ${name} is absent`);
    if (__opts__.test)
      return would(
        name,
        `Package repo '${name}' will be removed. This may cause pkg states to behave differently than stated if this action is repeated without test=True, due to the differences in the configured repositories.`,
        inPlan({ repo: name }),
      );
    await salt('pkg.del_repo')(repo, rest);
    if (await isThere(repo, rest)) return failed(name, `Failed to remove repo ${name}`);
    return await withoutKey(name, repo, rest);
  } catch (error) {
    return failed(name, `Failed to configure repo '${name}': ${messageOf(error)}`);
  }
};

const isThere = async (repo: string, options: ManagedOptions): Promise<boolean> =>
  isDebian() ? hasRepo(repo) : Object.keys(await salt('pkg.get_repo')(repo, options)).length > 0;

/** Returns the source: an archive of Ubuntu or Fedora only on that system. */
const repoNamed = (name: string, ppa: string | null, copr: string | null): string => {
  if (ppa && ['Ubuntu', 'Mint'].includes(String(__grains__.os)))
    return `ppa:${ppa.replace(/^ppa:/, '')}`;
  return copr && __grains__.os_family === 'RedHat' ? `copr:${copr.replace(/^copr:/, '')}` : name;
};

/** Reports a removed source, after removing its key if `keyid` names one. */
const withoutKey = async (
  name: string,
  repo: string,
  { keyid, keyid_ppa, aptkey = true, keydir = null }: ManagedOptions,
): Promise<StateReturn> => {
  const removed = `Removed repo ${name}`;
  const changes = { repo: name };
  if (!isGiven(keyid) && !isGiven(keyid_ppa)) return changed(name, removed, changes);
  if (!hasFunction('pkg.del_repo_key'))
    return failed(name, 'Repo key management is not implemented for this platform', changes);
  try {
    const ids = isGiven(keyid) ? { keyid } : { keyid_ppa };
    const id: string = await salt('pkg.del_repo_key')(repo, aptkey, keydir, ids);
    return changed(name, `${removed}, and keyid ${id}`, { ...changes, keyid: id });
  } catch (error) {
    return failed(name, `${removed}, but failed to remove key: ${messageOf(error)}`, changes);
  }
};

const isDebian = (): boolean => __grains__.os_family === 'Debian';

const refusal = (options: ManagedOptions, allowInsecure: boolean): string | undefined => {
  const { key_url, key_text, keyid, keyserver, enabled, disabled } = options;
  if (key_url && (keyid || keyserver))
    return 'You may not use both "keyid"/"keyserver" and "key_url" argument.';
  if (key_text && (keyid || keyserver))
    return 'You may not use both "keyid"/"keyserver" and "key_text" argument.';
  if (key_text && key_url) return 'You may not use both "key_url" and "key_text" argument.';
  if ('repo' in options)
    return "'repo' is not a supported argument for this state. The 'name' argument is probably what was intended.";
  if (isGiven(enabled) && isGiven(disabled)) return 'Only one of enabled/disabled is allowed';
  if (!allowInsecure && key_url?.trim().startsWith('http:'))
    return "Cannot have 'key_url' using http with 'allow_insecure_key' set to True";
  return undefined;
};

const isGiven = (value: unknown): boolean => value !== null && value !== undefined;

const switches = (name: string, { enabled, disabled, humanname }: ManagedOptions): PlainDict => {
  const isOn = isGiven(disabled) ? !isTrue(disabled) : isGiven(enabled) ? isTrue(enabled) : true;
  if (isDebian()) return { disabled: !isOn, enabled: isOn };
  return { enabled: isOn, name: humanname ?? name };
};

const isTrue = (value: unknown): boolean =>
  value === true || ['1', 'true', 'yes', 'on'].includes(String(value).toLowerCase());

/** Arguments about the procedure, which are not properties of the source. */
const notProperties = [
  'file',
  'clean_file',
  'refresh',
  'refresh_db',
  'aptkey',
  'key_url',
  'key_text',
  'keyid',
  'keyserver',
  'humanname',
  'disabled',
  'consolidate',
  'saltenv',
  'require_in',
];

const sanitized = (options: PlainDict | ManagedOptions): PlainDict =>
  Object.fromEntries(
    Object.entries(options).filter(
      (entry): entry is [string, Plain] => !notProperties.includes(entry[0]) && isGiven(entry[1]),
    ),
  );

/**
 * With zypper, `refresh` is a property of the repository: whether its data is refreshed
 * automatically.
 */
const fetching = ({ refresh }: ManagedOptions): PlainDict =>
  __grains__.os_family === 'Suse' && isGiven(refresh) ? { autorefresh: isTrue(refresh) } : {};

const isAsWanted = (
  before: PlainDict,
  wanted: PlainDict,
  options: PlainDict | ManagedOptions,
): boolean =>
  Object.keys(wanted).every(key => {
    if (key === 'file' || (key === 'line' && wanted.disabled === true)) return true;
    if (key === 'comments' && isDebian() && !options.comments) return true;
    if (key === 'comments') return isSame(commentsOf(before[key]), commentsOf(wanted[key]));
    // A repository is enabled unless its file says otherwise.
    if (key === 'enabled' && before[key] === undefined) return isTrue(wanted[key]);
    return isSame(before[key], wanted[key]);
  });

/** Reads one or more comments, with or without the leading `#`. */
const commentsOf = (value: Plain | undefined): Plain[] =>
  [value ?? []].flat().map(one => plainStr(one).replace(/^#*\s*/, ''));

const isSame = (left: Plain | undefined, right: Plain | undefined): boolean => {
  if (Array.isArray(left) && Array.isArray(right))
    return plainRepr(left.toSorted()) === plainRepr(right.toSorted());
  if (typeof left === 'boolean' || typeof right === 'boolean')
    return isTrue(left) === isTrue(right);
  return normalLine(left) === normalLine(right);
};

/**
 * Normalizes a source: the order of options and components, and a slash at the end of the address,
 * have no meaning.
 */
const normalLine = (value: Plain | undefined): string => {
  const text = plainStr(value ?? '');
  if (!/^deb(?:-src)? /.test(text)) return text;
  const options = /\[([^\]]*)\]/.exec(text);
  const [type, uri = '', dist, ...comps] = text
    .replace(options?.[0] ?? '', '')
    .replace(/#.*/, '')
    .trim()
    .split(/\s+/);
  return [
    type,
    ...(options?.[1] ?? '').trim().split(/\s+/).sort(),
    uri.replace(/\/+$/, ''),
    dist,
    ...comps.sort(),
  ].join(' ');
};

/** Properties that the line of a source already contains, and its location. */
const unreported = ['file', 'comments', 'trusted'];

const changesOf = (wanted: PlainDict, before: PlainDict, after: PlainDict): PlainDict =>
  Object.fromEntries(
    Object.keys(wanted)
      .filter(key => !(isDebian() && unreported.includes(key)))
      .filter(key => plainRepr(after[key]) !== plainRepr(before[key]))
      .map(key => [key, { new: after[key] ?? null, old: before[key] ?? null }]),
  );
