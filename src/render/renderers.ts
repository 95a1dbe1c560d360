import type { Data } from '../data/values/value.ts';
import { shebangOf } from './pipe.ts';
import type { Renderer, RendererTable, Stage } from './types.ts';

type FromText = (text: string, stage: Stage) => Data | Promise<Data>;

/** Makes a renderer whose code is loaded when a pipe first runs it. It accepts text only. */
const lazy = (kind: 'text' | 'data', load: () => Promise<FromText>): Renderer => {
  const loaded = once(load);
  return { kind, render: async (input, stage) => (await loaded())(input as string, stage) };
};

const filter = (load: () => Promise<Renderer['render']>): Renderer => {
  const loaded = once(load);
  return { kind: 'filter', render: async (input, stage) => (await loaded())(input, stage) };
};

/**
 * Caches an import: resolving it for each of a thousand texts would cost more than rendering them.
 */
const once = <T>(load: () => Promise<T>): (() => Promise<T>) => {
  let loading: Promise<T> | undefined;
  return () => {
    loading ??= load();
    return loading;
  };
};

const ts: Renderer = {
  ...lazy('data', async () => (await import('./ts/ts.ts')).renderTs),
  evaluates: 'program',
};

const confined = (load: () => Promise<FromText>): Renderer => ({
  ...lazy('text', load),
  evaluates: 'confined',
});

/** The built-in renderers. A template engine is one line here and one file. */
const builtIn: RendererTable = new Map<string, Renderer>([
  ['liquid', lazy('text', async () => (await import('./liquid/liquid.ts')).renderLiquid)],
  ['jinja', lazy('text', async () => (await import('./jinja/jinja.ts')).renderJinja)],
  ['mako', confined(async () => (await import('./script/run.ts')).renderMako)],
  ['wempy', confined(async () => (await import('./script/run.ts')).renderWempy)],
  ['yaml', lazy('data', async () => (await import('./yaml.ts')).renderYaml)],
  ['yamlex', lazy('data', async () => (await import('./yamlex.ts')).renderYamlex)],
  ['json', lazy('data', async () => (await import('./json.ts')).renderJson)],
  ['json5', lazy('data', async () => (await import('./json5.ts')).renderJson5)],
  ['toml', lazy('data', async () => (await import('./toml.ts')).renderToml)],
  ['text', lazy('data', async () => withoutShebangLine)],
  ['ts', ts],
  ['js', ts],
  [
    'stateconf',
    {
      ...filter(async () => (await import('./stateconf/stateconf.ts')).renderStateconf),
      kind: 'data',
      kindWith: argument => (/(?:^|\s)-\w*p/.test(argument) ? 'filter' : 'data'),
    },
  ],
  ['gpg', filter(async () => (await import('./gpg.ts')).renderGpg)],
  ['age', filter(async () => (await import('./age.ts')).renderAge)],
]);

const withoutShebangLine = (text: string): Data =>
  shebangOf(text) === undefined ? text : text.replace(/^[^\n]*\n?/, '');

/** Finds a renderer by name: the user's first, then the built-in ones. */
export const lookupIn =
  (own: RendererTable | undefined) =>
  (name: string): Renderer | undefined =>
    own?.get(name) ?? builtIn.get(name);

export const renderersIn = (own: RendererTable | undefined): string[] =>
  [...new Set([...builtIn.keys(), ...(own?.keys() ?? [])])].sort();
