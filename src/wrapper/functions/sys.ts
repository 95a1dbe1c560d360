import { fnmatch } from '../../data/python/glob.ts';
import { stateSchemas } from '../../data/signatures/json-schema.ts';
import {
  argspecs,
  docs,
  functionNames,
  functionsOf,
  moduleName,
  moduleNames,
  moduleText,
} from '../../data/signatures/module-docs.ts';
import { type Data, toData } from '../../data/values/value.ts';
import type { ModuleMeta } from '../../protocol/meta.ts';
import { getOwn, type Plain } from '../../protocol/plain.ts';
import { renderersIn } from '../../render/renderers.ts';
import type { WrapperFunction, WrapperModule } from '../define.ts';

/** Descriptions of the built-in renderers, for `sys.renderer_doc`. */
const rendererDocs: Readonly<Record<string, string>> = {
  age: 'Opens age-encrypted values (ASCII armor) with the identities of the control node.',
  gpg: 'Opens PGP-encrypted values (ASCII armor) with the key ring of the control node.',
  jinja: 'Renders Jinja templates.',
  js: 'Runs a JavaScript module; its default export is the data, or a function that returns it.',
  json: 'Reads JSON.',
  json5: 'Reads JSON5: JSON with comments, trailing commas and unquoted keys.',
  liquid: 'Renders Liquid templates.',
  mako: 'Renders Mako templates.',
  text: 'Returns the text unchanged.',
  toml: 'Reads TOML.',
  ts: 'Runs a TypeScript module; its default export is the data, or a function that returns it.',
  wempy: 'Renders Wempy templates.',
  yaml: "Reads YAML by Salt's rules.",
  yamlex: 'Reads YAML with the tags !aggregate and !reset and ordered mappings.',
};

/** `sys.doc file.managed`: documentation of states whose name no function has. */
const statesOnly = (
  modules: readonly ModuleMeta[],
  wanted: readonly string[],
): Record<string, string> =>
  Object.assign(
    {},
    ...wanted
      .filter(
        name => !name.includes('*') && Object.keys(docs(modules, 'exec', [name])).length === 0,
      )
      .map(name => docs(modules, 'state', [name])),
  );

type Modules = () => readonly ModuleMeta[];

/**
 * `sys.*`: documentation and signatures, read from the sources. Only the lists of available
 * functions come from the host.
 * @param own the functions of the control node itself
 */
export const sysModule = (own: Modules): WrapperModule => {
  /**
   * Lists names; with a kind, those on the host. The functions of the control node are on every
   * host.
   */
  const listing = (
    doc: string,
    work: (modules: readonly ModuleMeta[], wanted: string[]) => Plain,
    kind?: 'exec' | 'state',
  ): WrapperFunction => ({
    doc,
    params: [],
    rest: true,
    work: async ({ ctx, rest }) => {
      const names = kind && (await ctx.available?.(kind));
      const modules = kind && names ? onlyNamed(ctx.modules, kind, names) : ctx.modules;
      return toData(work([...modules, ...own()], rest.map(String)));
    },
  });
  const spec = (kind: 'exec' | 'state', doc: string): WrapperFunction => ({
    doc,
    params: [['module', '']],
    work: ({ ctx, text }) => toData(argspecs([...ctx.modules, ...own()], kind, text('module'))),
  });
  return {
    doc: 'Documentation and signatures of all modules, from their sources.',
    functions: {
      doc: listing(
        'Documentation of functions: all, of modules, or by glob. For a name that only a state has, returns the documentation of the state.',
        (modules, wanted) => ({ ...docs(modules, 'exec', wanted), ...statesOnly(modules, wanted) }),
      ),
      state_doc: listing(
        'Documentation of states: all, of modules, or by glob.',
        (modules, wanted) => docs(modules, 'state', wanted),
      ),
      argspec: spec('exec', 'Arguments and defaults of functions.'),
      state_argspec: spec('state', 'Arguments and defaults of states.'),
      list_modules: listing(
        'Names of the execution modules that the host has.',
        (modules, wanted) => moduleNames(modules, 'exec', wanted),
        'exec',
      ),
      list_functions: listing(
        'Names of the functions that the host has: all, of modules, or by glob.',
        (modules, wanted) => functionNames(modules, 'exec', wanted),
        'exec',
      ),
      list_state_modules: listing(
        'Names of the state modules that the host has.',
        (modules, wanted) => moduleNames(modules, 'state', wanted),
        'state',
      ),
      list_state_functions: listing(
        'Names of the states that the host has: all, of modules, or by glob.',
        (modules, wanted) => functionNames(modules, 'state', wanted),
        'state',
      ),
      list_runners: none('runners', []),
      list_runner_functions: none('runners', []),
      list_returners: none('returners', []),
      list_returner_functions: none('returners', []),
      runner_doc: none('runners', new Map()),
      returner_doc: none('returners', new Map()),
      runner_argspec: none('runners', new Map()),
      returner_argspec: none('returners', new Map()),
      reload_modules: {
        doc: 'True: modules come with every run.',
        params: [],
        work: () => true,
      },
      list_renderers: listing('Names of the renderers.', (modules, wanted) =>
        rendererNames(modules, wanted),
      ),
      state_schema: {
        doc: 'JSON Schemas for the arguments of states: all, of a module, or by glob.',
        params: [['module', '']],
        work: ({ ctx, text }) => toData(stateSchemas([...ctx.modules, ...own()], text('module'))),
      },
      renderer_doc: listing('Documentation of renderers.', (modules, wanted) =>
        Object.fromEntries(
          rendererNames(modules, wanted).map(name => [name, rendererDoc(modules, name)]),
        ),
      ),
    },
  };
};

/** Returns the modules with the functions that the host has; modules without any are left out. */
const onlyNamed = (
  modules: readonly ModuleMeta[],
  kind: 'exec' | 'state',
  names: ReadonlySet<string>,
): ModuleMeta[] =>
  modules.flatMap(module => {
    if (module.kind !== kind) return [module];
    const called = moduleName(module);
    const functions = module.functions.filter(({ name }) => names.has(`${called}.${name}`));
    return functions.length > 0 || module.dynamic ? [{ ...module, functions }] : [];
  });

/** Modules of kinds that do not exist here, such as those that run on a master. */
const none = (what: string, answer: Data): WrapperFunction => ({
  doc: `There are no ${what} here.`,
  params: [],
  rest: true,
  anyKeyword: true,
  work: () => answer,
});

const rendererNames = (modules: readonly ModuleMeta[], wanted: readonly string[]): string[] =>
  [...new Set([...renderersIn(undefined), ...moduleNames(modules, 'renderers')])]
    .filter(name => wanted.length === 0 || wanted.some(pattern => fnmatch(name, pattern)))
    .sort();

const rendererDoc = (modules: readonly ModuleMeta[], name: string): string => {
  const own = modules.find(({ kind, file }) => kind === 'renderers' && file === name);
  const fun = own && functionsOf([own], 'renderers').get(`${name}.render`);
  if (own) return moduleText(own) || (fun?.doc ?? '');
  return getOwn(rendererDocs, name) ?? '';
};
