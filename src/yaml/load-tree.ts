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
  const isWhole = end - start === source.text.length;
  if (!isWhole) return parseTree(source, source.text.slice(start, end), start);
  const { file, text, cache } = source;
  const moved = cache?.similar?.find(file, text);
  const tree = moved && readTree(source, text, moved, 0);
  return tree ? { tree } : parseTree(source, text, start);
};

const parseTree = (
  source: YamlSource,
  text: string,
  start: number,
): { readonly tree?: YamlTree | undefined; readonly parsed?: Parsed } => {
  const isWhole = text.length === source.text.length;
  const cache = text.length < worthKeeping ? undefined : source.cache?.trees;
  const known = cache?.get(text);
  const before = known && readTree(source, text, known, start);
  if (before) {
    if (isWhole) source.cache?.similar?.keep(source.file, text, known);
    return { tree: before };
  }
  const parsed = isWhole ? parse(source) : parsePiece(source, start, start + text.length);
  const packed = packTree(source, text, parsed);
  const tree = packed && readTree(source, text, packed, start);
  if (tree) {
    cache?.put(text, packed);
    if (isWhole) source.cache?.similar?.keep(source.file, text, packed);
  }
  return { tree, parsed };
};
