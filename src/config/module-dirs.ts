import { join } from 'node:path';
import type { Config } from './config.ts';
import { pathOf } from './load.ts';

/** Options with folders of modules, their kind, and their subfolder in `extension_modules`. */
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

/** Returns where a project's modules are, and how they are used. */
export const moduleFolders = (config: Config) => ({
  fileRoots: config.file_roots,
  extraDirs: moduleDirs(config),
  cacheDir: config.cachedir,
  ...(config.options.get('enable_zip_modules') === false ? { zips: false } : {}),
});

/**
 * Returns folders of modules in addition to those of the file roots, by the folder name in a file
 * root: those of `module_dirs`, `states_dirs` …, then the subfolder of `extension_modules`.
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
