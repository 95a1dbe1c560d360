import {
  __grains__,
  __opts__,
  __salt__,
  getContext,
  type Plain,
  type PlainDict,
} from '../../../api.ts';

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
