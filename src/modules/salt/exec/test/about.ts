import { notDone } from '../../../_shared/states/not-done.ts';
import {
  __grains__,
  __opts__,
  __salt__,
  getContext,
  log,
  type Plain,
  type PlainDict,
} from '../../../api.ts';

/** The version of Salt that this follows. */
export const version = (): string => '3006.9';

/** Versions of what runs here. */
export const versions_information = (): PlainDict => ({
  'Salt Version': { Salt: version() },
  'Dependency Versions': Object.fromEntries(
    Object.entries(process.versions).map(([name, value]) => [name, value ?? '']),
  ),
  'System Versions': { system: process.platform, machine: process.arch },
});

/** Returns the versions as text. */
export const versions_report = (): string =>
  Object.entries(versions_information())
    .map(([title, items]) => {
      const width = Math.max(...Object.keys(items as PlainDict).map(name => name.length));
      const lines = Object.entries(items as PlainDict).map(
        ([name, value]) => `${name.padStart(width + 10)}: ${value}`,
      );
      return [`${title}:`, ...lines].join('\n');
    })
    .join('\n\n');

/** Salt's other name of `test.versions_report`. */
export const versions = versions_report;

/** A function that no host has in Salt; here it answers as there. */
export const missing_func = (): string => 'foo';

/** The grains, as `grains.items`. */
export const attr_call = (): Promise<Plain> => __salt__['grains.items']();

/**
 * The functions of this host, and their modules.
 */
export const module_report = (): PlainDict => {
  const functions = Object.keys(__salt__);
  const modules = [...new Set(functions.map(name => name.slice(0, name.lastIndexOf('.'))))];
  return {
    functions,
    function_attrs: functions,
    function_subs: functions,
    modules,
    module_attrs: modules,
    missing_attrs: [],
    missing_subs: [],
  };
};

/** The options of this run, with the grains. */
export const opts_pkg = (): PlainDict => ({ ...__opts__, grains: { ...__grains__ } });

/** True, with a warning in the log. */
export const deprecation_warning = (): boolean => {
  log.warning('This is a test deprecation warning.');
  return true;
};

/**
 * The file of the module that goes by a name here, empty where there is none.
 * @param module a module's name: `service`, `pkg`
 * @example tsalt-ssh '*' test.provider service
 */
export const provider = async (module: string): Promise<string> =>
  (await getContext().provider?.(module)) ?? '';

/** By the files of the modules that there are here, the names they go by. */
export const providers = async (): Promise<PlainDict> => {
  const found: PlainDict = {};
  const modules = Object.keys(__salt__).map(name => name.slice(0, name.lastIndexOf('.')));
  for (const module of new Set(modules)) {
    const file = await provider(module);
    if (file !== '') found[file] = module;
  }
  return found;
};

/** Not supported: the error of a call contains the reason why a module is not loaded. */
export const not_loaded = (): never =>
  notDone('test.not_loaded', 'the reason is part of its error');
