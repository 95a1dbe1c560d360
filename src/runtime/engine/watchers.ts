import { type LowChunk, lowTag } from '../../protocol/low.ts';
import { isPlainDict, type Plain } from '../../protocol/plain.ts';
import type { Registry } from '../registry-types.ts';
import type { ChunkIndex } from './chunk-index.ts';
import { asList, requisitesOf } from './low-tools.ts';

export const listenTag = (low: LowChunk): string => `listen:${lowTag(low)}`;

/**
 * Returns, for every state that others watch, listen to or have in `onchanges`, their tags.
 * @param disabled the `disabled_requisites`
 */
export const findWatchers = async (
  registry: Registry,
  chunks: readonly LowChunk[],
  index: ChunkIndex,
  disabled: readonly Plain[],
): Promise<ReadonlyMap<string, readonly string[]>> => {
  const watchers = new Map<string, string[]>();
  const add = (watched: readonly LowChunk[], watcher: string): void => {
    for (const chunk of watched) {
      const tag = lowTag(chunk);
      const list = watchers.get(tag);
      if (list) list.push(watcher);
      else watchers.set(tag, [watcher]);
    }
  };
  const kinds = reactingKinds.filter(kind => !disabled.includes(kind));
  for (const low of chunks) {
    for (const kind of kinds)
      if (Object.hasOwn(low, kind) && (await canReact(registry, low, kind)))
        for (const requisite of requisitesOf(low, kind)) add(index.find(requisite), lowTag(low));
    for (const item of asList(low.listen)) add(listenedTo(index, chunks, item), listenTag(low));
    for (const listener of listenersIn(index, low)) add([low], listenTag(listener));
  }
  return watchers;
};

const reactingKinds = ['watch', 'watch_any', 'onchanges', 'onchanges_any'] as const;

/** Without `mod_watch`, `watch` means `require`. */
const canReact = async (registry: Registry, low: LowChunk, kind: string): Promise<boolean> =>
  kind.startsWith('onchanges') || (await registry.hook(low.state, 'mod_watch')) !== undefined;

/** Returns the chunks that `- listen: [{file: x}]` names. A plain id means its first state. */
export const listenedTo = (
  index: ChunkIndex,
  chunks: readonly LowChunk[],
  item: Plain,
): readonly LowChunk[] => {
  if (!isPlainDict(item)) {
    const first = chunks.find(({ name, __id__ }) => __id__ === item || name === item);
    return first ? index.exact(first.state, first.__id__) : [];
  }
  return Object.entries(item).flatMap(([state, value]) => index.exact(state, value));
};

const listenersIn = (index: ChunkIndex, low: LowChunk): readonly LowChunk[] =>
  asList(low.listen_in)
    .filter(isPlainDict)
    .flatMap(item => Object.entries(item))
    .flatMap(([state, value]) => index.exact(state, value));
