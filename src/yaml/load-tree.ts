import { packTree, readTree, type YamlTree } from './packed-tree.ts';
import { type Parsed, parse, parsePiece } from './parse.ts';
import { worthKeeping } from './yaml-cache.ts';
import type { YamlSource } from './yaml-error.ts';

/**
 * Reads the data of a part of a text without composing nodes, if it has none of what needs them
 * and no host had a part in it.
 *
 * @returns its tree; or what has been parsed, for `Composer`; or nothing
 * @throws TsaltError `yaml-syntax`, `yaml-depth`
 */
export const loadTree = (
  source: YamlSource,
  start: number,
  end: number,
): { readonly tree?: YamlTree | undefined; readonly parsed?: Parsed } => {
  if (source.taint || source.tags) return {};
  const text = source.text.slice(start, end);
  const cache = text.length < worthKeeping ? undefined : source.cache?.trees;
  const known = cache?.get(text);
  const before = known && readTree(source, text, known, start);
  if (before) return { tree: before };
  const isWhole = text.length === source.text.length;
  const parsed = isWhole ? parse(source) : parsePiece(source, start, end);
  const packed = packTree(source, text, parsed);
  const tree = packed && readTree(source, text, packed, start);
  if (tree) cache?.put(text, packed);
  return { tree, parsed };
};
