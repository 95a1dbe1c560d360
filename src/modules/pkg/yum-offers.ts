import { compareRpm } from '../_shared/text/package-version.ts';
import type { ManagerOptions } from './package-manager.ts';
import { nativeArch, parseRpmList, rpmFormat } from './rpm.ts';
import { isDnf, repoOptions, runYum } from './yum-run.ts';

/** Returns the versions in the repositories, by name. */
export const available = async (
  names: readonly string[],
  options: ManagerOptions,
  newestOnly: boolean,
): Promise<Map<string, string[]>> => {
  if (!isDnf()) return availableByYum(names, options);
  const { stdout } = await runYum(
    '-q',
    ...repoOptions(options),
    'repoquery',
    '--available',
    ...(newestOnly ? ['--latest-limit=1'] : []),
    '--queryformat',
    `${rpmFormat.toLowerCase()}\n`,
    ...names,
  );
  return new Map(Object.entries(parseRpmList(stdout, nativeArch())));
};

/** Parses lines of `i ADVISORY severity package`; the `i` is missing if it is not installed. */
export const parseUpdateInfo = (text: string): Patches => {
  const patches: Patches = {};
  for (const line of text.split('\n')) {
    const match = /^(i?)\s+(\S+)\s+(\S+)\s+(\S+)\s*$/.exec(line);
    if (!match) continue;
    const [, mark, id = '', , name = ''] = match;
    const known = patches[id] ?? { installed: true, summary: [] };
    patches[id] = {
      installed: known.installed && mark === 'i',
      summary: [...known.summary, name],
    };
  }
  return patches;
};

export type Patches = { [id: string]: { installed: boolean; summary: string[] } };

const availableByYum = async (
  names: readonly string[],
  options: ManagerOptions,
): Promise<Map<string, string[]>> => {
  const { stdout } = await runYum(
    '-q',
    ...repoOptions(options),
    'list',
    'available',
    '--showduplicates',
    ...names,
  );
  return parseYumList(stdout, nativeArch());
};

/** Lines of `name.arch  version  repository`; a long name breaks the line after it. */
export const parseYumList = (text: string, native: string): Map<string, string[]> => {
  const versions = new Map<string, string[]>();
  const joined = text.replace(/^(\S+)\n\s+(\S+\s+\S+)/gm, '$1 $2');
  for (const line of joined.split('\n')) {
    const match = /^(\S+)\.(\S+?)\s+(\S+)\s+(\S+)\s*$/.exec(line);
    if (!match) continue;
    const [, name = '', arch = '', version = ''] = match;
    const key = arch === native || arch === 'noarch' ? name : `${name}.${arch}`;
    const plain = version.replace(/^0:/, '');
    versions.set(key, [...(versions.get(key) ?? []), plain].sort(compareRpm));
  }
  return versions;
};
