import type { TsaltError } from '../protocol/error.ts';
import { coreTags, type MappingNode, type YamlNode, type YamlPair } from './node.ts';
import type { YamlSource } from './yaml-error.ts';

/**
 * Expands `<<` as Salt's loader does: merged pairs come first, explicit keys win, and of several
 * merged mappings the last comes first.
 */
export const flatten = (node: MappingNode, source: YamlSource): void => {
  if (node.flat) return;
  node.flat = true;
  if (node.pairs.every(([{ tag }]) => tag !== coreTags.merge && tag !== coreTags.value)) return;
  const merged: YamlPair[] = [];
  const own: YamlPair[] = [];
  for (const pair of node.pairs) {
    const [key, value] = pair;
    if (key.tag === coreTags.value) key.tag = coreTags.str;
    if (key.tag !== coreTags.merge) own.push(pair);
    else if (value.kind === 'mapping') merged.push(...flattened(value, source));
    else if (value.kind === 'sequence') {
      const parts = value.items.map(item => {
        if (item.kind === 'mapping') return flattened(item, source);
        throw refused(node, 'a mapping', item, source);
      });
      for (const part of parts.reverse()) for (const pair of part) merged.push(pair);
    } else throw refused(node, 'a mapping or list of mappings', value, source);
  }
  if (merged.length === 0) node.pairs = own;
  else {
    const explicit = new Set(own.map(([key]) => (key.kind === 'scalar' ? key.value : key)));
    node.pairs = merged
      .filter(([key]) => !explicit.has(key.kind === 'scalar' ? key.value : key))
      .concat(own);
  }
};

const flattened = (node: MappingNode, source: YamlSource): readonly YamlPair[] => {
  flatten(node, source);
  return node.pairs;
};

const refused = (
  node: MappingNode,
  expected: string,
  { kind, at }: YamlNode,
  source: YamlSource,
): TsaltError => {
  const message = `expected ${expected} for merging, but found ${kind}`;
  const text = source.saltText(['while constructing a mapping', node.at], [message, at]);
  return source.fault('yaml-merge', message, at, undefined, text);
};
