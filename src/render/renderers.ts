import type { Data } from '../data/value.ts';
import type { Renderer, RendererTable, Stage } from './types.ts';

type FromText = (text: string, stage: Stage) => Data | Promise<Data>;

/** A renderer whose code is loaded when a pipe first runs it. The pipe gives it text only. */
const lazy = (kind: 'text' | 'data', load: () => Promise<FromText>): Renderer => ({
  kind,
  render: async (input, stage) => (await load())(input as string, stage),
});

/** The built-in renderers. A template engine is one line here and one file. */
const builtIn: RendererTable = new Map<string, Renderer>([
  ['liquid', lazy('text', async () => (await import('./liquid/liquid.ts')).renderLiquid)],
  ['yaml', lazy('data', async () => (await import('./yaml.ts')).renderYaml)],
  ['json', lazy('data', async () => (await import('./json.ts')).renderJson)],
]);

/** A renderer by name: the user's first, then the built-in one. */
export const lookupIn =
  (own: RendererTable | undefined) =>
  (name: string): Renderer | undefined =>
    own?.get(name) ?? builtIn.get(name);

export const namesIn = (own: RendererTable | undefined): string[] =>
  [...new Set([...builtIn.keys(), ...(own?.keys() ?? [])])].sort();
