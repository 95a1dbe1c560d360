import { salt } from '../_shared/states/call.ts';
import { CommandExecutionError, type PlainDict } from '../api.ts';
import type { PipOptions } from './pip-run.ts';
import {
  comparePython,
  parseRequirement,
  type Requirement,
  sameName,
  satisfies,
} from './python-version.ts';

export type PipList = { readonly [name: string]: string };

/**
 * A requirement as it was written, and its meaning. The package of a URL comes from the name of the
 * wheel, `#egg=` or `name @`; `asked` is undefined when the URL has none of these.
 */
export type DesiredRequirement = {
  readonly text: string;
  readonly asked: Requirement | undefined;
  readonly isAddress?: true;
};

export const desiredOf = (text: string): DesiredRequirement => {
  const [, direct] = /^([\w.-]+)\s*(?:\[[^\]]*\])?\s*@\s*[a-z][a-z+]*:/.exec(text) ?? [];
  if (direct !== undefined || isAddress(text))
    return { text, asked: direct ? { name: direct, specs: [] } : packageOf(text), isAddress: true };
  const asked = parseRequirement(text);
  if (asked) return { text, asked };
  throw new CommandExecutionError(
    /^[^=<>!~]+=[^=]/.test(text)
      ? `Invalid version specification in package ${text}. '=' is not supported, use '==' instead.`
      : `pip raised an exception while parsing '${text}': Invalid requirement: '${text}'`,
  );
};

/** An address, a path or a file. */
const isAddress = (text: string): boolean => /[/\\]|^\.|\.(?:whl|zip|tar\.\w+)$/.test(text);

const packageOf = (address: string): Requirement | undefined => {
  const [bare = '', fragment = ''] = address.split('#');
  const [, name, version] =
    /(?:^|[/\\])([^-/\\]+)-([^-/\\]+)(?:-\d[^-/\\]*)?(?:-[^-/\\]+){3}\.whl$/.exec(bare) ?? [];
  if (name !== undefined && version !== undefined)
    return { name, specs: [['==', version.replace('%2B', '+')]] };
  const [, egg] = /(?:^|&)egg=([^&]+)/.exec(fragment) ?? [];
  return egg === undefined ? undefined : parseRequirement(egg);
};

/** The version that is there; empty when none is. */
export const versionIn = (list: PipList, name: string): string =>
  Object.entries(list).find(([one]) => sameName(one, name))?.[1] ?? '';

/** The name of a package in `changes`, as Salt writes it. */
export const shownPackageName = ({ name }: Requirement): string =>
  name.replace(/[^A-Za-z0-9.]+/g, '-');

/**
 * Why nothing is to be installed for a requirement; undefined when something is. With `upgrade` the
 * index is asked for the newest version that satisfies it.
 */
export const whyInstalled = async (
  { text, asked, isAddress }: DesiredRequirement,
  list: PipList,
  options: PipOptions,
  where: PlainDict,
): Promise<string | undefined> => {
  const version = asked ? versionIn(list, asked.name) : '';
  if (!asked || version === '' || options.ignore_installed || options.force_reinstall)
    return undefined;
  const there = `Python package ${text} was already installed`;
  // Only pip can find out the version behind a URL, unless it is a wheel.
  if (isAddress && options.upgrade && asked.specs.length === 0) return undefined;
  if (isAddress || !options.upgrade) return satisfies(version, asked.specs) ? there : undefined;
  const best = await newest(asked, options, where);
  if (best === undefined)
    return `Python package ${shownPackageName(asked)} was already installed and\nthe available upgrade doesn't fulfills the version requirements`;
  return comparePython(version, best) === 0 ? there : undefined;
};

const newest = async (
  { name, specs }: Requirement,
  { index_url, extra_index_url, find_links, no_index, pre_releases }: PipOptions,
  where: PlainDict,
): Promise<string | undefined> => {
  const asksFor = (stage: string): boolean =>
    pre_releases === true || specs.some(([, version]) => version.includes(stage));
  const versions: string[] | null = await salt('pip.list_all_versions')(name, {
    include_alpha: asksFor('a'),
    include_beta: asksFor('b'),
    include_rc: asksFor('rc'),
    index_url: index_url ?? null,
    extra_index_url: extra_index_url ?? null,
    find_links: find_links ?? null,
    no_index: no_index ?? false,
    ...where,
  });
  return versions?.findLast(version => satisfies(version, specs));
};
