import { join } from 'node:path';
import type { Config } from './config.ts';
import { pathOf } from './load.ts';

/** Options that name folders of modules, what lies in them, and where it is in `extension_modules`. */
const kinds = [
  ['module_dirs', '_modules', 'modules'],
  ['states_dirs', '_states', 'states'],
  ['grains_dirs', '_grains', 'grains'],
  ['utils_dirs', '_utils', 'utils'],
  ['outputter_dirs', '_outputters', 'output'],
  ['matchers_dirs', '_matchers', 'matchers'],
  ['returner_dirs', '_returners', 'returners'],
  ['pillar_dirs', '_pillar', 'pillar'],
] as const;

/** Where a project's modules are, and what is made of them. */
export const modulePlaces = (config: Config) => ({
  fileRoots: config.file_roots,
  extraDirs: moduleDirs(config),
  cacheDir: config.cachedir,
  ...(config.options.get('enable_zip_modules') === false ? { zips: false } : {}),
});

/**
 * Folders of modules besides those of the file roots, by what a file root calls such a folder:
 * those of `module_dirs`, `states_dirs` …, then the part of `extension_modules`.
 */
const moduleDirs = (config: Config): Record<string, string[]> => {
  const { dir, extension_modules } = config;
  const found = kinds.map(([option, folder, part]): [string, string[]] => [
    folder,
    [
      ...(config[option] ?? []).map(path => pathOf(dir, path)),
      ...(extension_modules === undefined ? [] : [join(pathOf(dir, extension_modules), part)]),
    ],
  ]);
  return Object.fromEntries(found.filter(([, dirs]) => dirs.length > 0));
};
