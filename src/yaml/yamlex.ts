import { isDeepStrictEqual } from 'node:util';
import { yamlKind } from '../data/formats/yaml-kind.ts';
import { findKey } from '../data/values/key.ts';
import { markOrdered } from '../data/values/ordered.ts';
import { NodePositions, setPositions } from '../data/values/position.ts';
import { type Data, type DataKey, type Dict, isDict } from '../data/values/value.ts';
import { compose } from './compose.ts';
import { Constructor } from './construct.ts';
import { flatten } from './merge-keys.ts';
import { coreTags, type MappingNode, type YamlNode } from './node.ts';
import { sourceOf } from './source-of.ts';
import type { YamlLoadOptions, YamlSource } from './yaml-error.ts';

/**
 * Parses Salt's YAMLEX: YAML in which keys may be repeated. Values marked `!aggregate` are then
 * joined (`!aggregate a` and `!aggregate b` are `[a, b]`, mappings are merged), others are
 * replaced; `!reset` on a key discards earlier values.
 *
 * @throws TsaltError `yaml-…`
 */
export const loadYamlex = (text: string, options: YamlLoadOptions = {}): Data => {
  const source = sourceOf(text, options);
  const root = compose(source);
  return root ? new YamlexConstructor(source).document(root) : null;
};

class YamlexConstructor {
  readonly #source: YamlSource;
  readonly #plain: Constructor;
  readonly #aggregates = new WeakSet<object>();

  constructor(source: YamlSource) {
    this.#source = source;
    this.#plain = new Constructor(source);
  }

  document(root: YamlNode): Data {
    return this.#construct(root);
  }

  #construct(node: YamlNode): Data {
    if (node.tag === '!aggregate') return this.#aggregate(node);
    if (node.kind === 'scalar')
      return this.#plain.construct(node.tag === '!reset' ? untagged(node) : node);
    if (node.kind === 'sequence') {
      const list = node.items.map(item => this.#construct(item));
      setPositions(list, new NodePositions(this.#source.locate, node.at, []));
      return list;
    }
    return this.#mapping(node);
  }

  #aggregate(node: YamlNode): Data {
    const value = this.#construct(untagged(node));
    const marked = isDict(value) || Array.isArray(value) ? value : value === null ? [] : [value];
    this.#aggregates.add(marked);
    return marked;
  }

  #mapping(node: MappingNode): Dict {
    flatten(node, this.#source);
    const dict = markOrdered(new Map() as Dict);
    const keys: DataKey[] = [];
    const offsets: number[] = [];
    for (const [keyNode, valueNode] of node.pairs) {
      const onKey = keyNode.tag === '!aggregate';
      const key = this.#plain.construct(
        /^!(?:reset|aggregate)$/.test(keyNode.tag) ? untagged(keyNode) : keyNode,
      );
      if (isDict(key) || Array.isArray(key))
        throw this.#source.fault('yaml-key', 'found unacceptable key', keyNode.at);
      const value = onKey ? this.#aggregate(valueNode) : this.#construct(valueNode);
      const known = findKey(dict, key);
      const reset = keyNode.tag === '!reset' || known === undefined;
      dict.set(known ?? key, reset ? value : this.#merge(dict.get(known) ?? null, value));
      keys.push(key);
      offsets.push(keyNode.at);
    }
    setPositions(dict, new NodePositions(this.#source.locate, node.at, offsets, keys));
    return dict;
  }

  #merge(old: Data, fresh: Data): Data {
    if (isDict(old) && isDict(fresh)) {
      const joined = this.#isAggregate(old) && this.#isAggregate(fresh);
      const result: Map<DataKey, Data> = new Map(joined ? old : fresh);
      for (const [key, value] of fresh)
        result.set(key, old.has(key) ? this.#merge(old.get(key) ?? null, value) : value);
      if (joined) this.#aggregates.add(result);
      return result;
    }
    if (
      Array.isArray(old) &&
      Array.isArray(fresh) &&
      this.#isAggregate(old) &&
      this.#isAggregate(fresh)
    ) {
      const result = [...old];
      for (const value of fresh)
        if (!old.some(item => isDeepStrictEqual(item, value))) result.push(value);
      this.#aggregates.add(result);
      return result;
    }
    return fresh;
  }

  #isAggregate(value: object): boolean {
    return this.#aggregates.has(value);
  }
}

/** Returns the node with the tag that it would have without its explicit one. */
const untagged = (node: YamlNode): YamlNode => {
  if (node.kind === 'sequence') return { ...node, tag: coreTags.seq };
  if (node.kind === 'mapping') return { ...node, tag: coreTags.map };
  return { ...node, tag: node.plain ? coreTags[yamlKind(node.value)] : coreTags.str };
};
