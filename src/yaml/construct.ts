import { findKey } from '../data/key.ts';
import { markOrdered } from '../data/ordered.ts';
import { Places, setPlaces } from '../data/position.ts';
import { pyRepr } from '../data/python-text.ts';
import { type Data, type DataKey, type Dict, Float } from '../data/value.ts';
import type { TsaltError } from '../protocol/error.ts';
import type { Source } from './fault.ts';
import { flatten } from './merge-keys.ts';
import {
  type MappingNode,
  type ScalarNode,
  type SequenceNode,
  tagPrefix,
  type YamlNode,
} from './node.ts';
import { toBool, toFloat, toInt } from './scalar.ts';

const untagged = { scalar: 'str', sequence: 'seq', mapping: 'map' };

/** Data from nodes by the constructors of Salt's loader. Aliased nodes become one shared value. */
export class Constructor {
  readonly #source: Source;
  readonly #done = new Map<YamlNode, Data>();

  constructor(source: Source) {
    this.#source = source;
  }

  construct(node: YamlNode): Data {
    const own = this.#source.tags?.get(node.tag);
    if (own) return own(this.construct({ ...node, tag: tagPrefix + untagged[node.kind] }));
    if (node.kind === 'scalar') return this.#scalar(node);
    const known = node.anchored ? this.#done.get(node) : undefined;
    if (known !== undefined) return known;
    const data = this.#collection(node);
    if (node.anchored) this.#done.set(node, data);
    return data;
  }

  #collection(node: SequenceNode | MappingNode): Data {
    switch (node.tag.startsWith(tagPrefix) ? node.tag.slice(tagPrefix.length) : '') {
      case 'map':
      case 'omap':
        return this.#mapping(node);
      case 'seq':
        return this.#sequence(node);
      case 'set':
        return [...(this.#mapping(node) as Dict).keys()];
      case 'pairs':
        return this.#pairs(node);
      case 'str':
      case 'int':
      case 'float':
      case 'bool':
      case 'null':
      case 'timestamp':
      case 'binary':
        throw this.#fault(`expected a scalar node, but found ${node.kind}`, node.at);
      default:
        throw this.#unknown(node);
    }
  }

  #mapping(node: YamlNode): Dict {
    if (node.kind !== 'mapping')
      throw this.#fault(`expected a mapping node, but found ${node.kind}`, node.at);
    flatten(node, this.#source);
    const dict: Dict = new Map();
    if (this.#source.ordered) markOrdered(dict);
    const keys: DataKey[] = [];
    const offsets: number[] = [];
    for (const [keyNode, valueNode] of node.pairs) {
      const key = this.#key(keyNode, node);
      const value = this.construct(valueNode);
      const twin = findKey(dict, key);
      if (twin !== undefined) throw this.#conflict(node, keyNode, key);
      dict.set(key, value);
      keys.push(key);
      offsets.push(keyNode.at);
    }
    setPlaces(dict, new Places(this.#source.locate, node.at, offsets, keys));
    return dict;
  }

  #key(node: YamlNode, mapping: MappingNode): DataKey {
    if (node.kind === 'scalar') return this.#scalar(node);
    throw this.#source.fault(
      'yaml-key',
      `found unacceptable key: a ${node.kind} cannot be a key`,
      node.at,
      'Invalid YAML, possible double curly-brace: an expression of a template that nobody rendered.',
      this.#source.saltText(
        ['while constructing a mapping', mapping.at],
        [`found unacceptable key ${showValue(node)}`, node.at],
      ),
    );
  }

  #sequence(node: YamlNode): Data[] {
    if (node.kind !== 'sequence')
      throw this.#fault(`expected a sequence node, but found ${node.kind}`, node.at);
    const list = node.items.map(item => this.construct(item));
    const offsets = node.items.map(item => (item.kind === 'scalar' ? item.at : -1));
    setPlaces(list, new Places(this.#source.locate, node.at, offsets));
    return list;
  }

  #pairs(node: YamlNode): Data[] {
    if (node.kind !== 'sequence')
      throw this.#fault(`expected a sequence, but found ${node.kind}`, node.at);
    return node.items.map(item => {
      const [pair, ...more] = item.kind === 'mapping' ? item.pairs : [];
      if (!pair || more.length > 0)
        throw this.#fault('expected a mapping of length 1 in a list of pairs', item.at);
      return [this.construct(pair[0]), this.construct(pair[1])];
    });
  }

  #scalar(node: ScalarNode): null | boolean | number | bigint | string | Float {
    const { value } = node;
    if (!node.tag.startsWith(tagPrefix)) throw this.#unknown(node);
    switch (node.tag.slice(tagPrefix.length)) {
      case 'str':
      case 'timestamp':
      case 'python/unicode':
        return value;
      case 'null':
        return null;
      case 'bool':
        return toBool(value) ?? this.#wrong(node, 'bool');
      case 'int':
        return toInt(value) ?? this.#wrong(node, 'int');
      case 'float':
        return toFloat(value) ?? this.#wrong(node, 'float');
      case 'binary':
        return this.#binary(node);
      case 'map':
      case 'omap':
      case 'set':
        throw this.#fault('expected a mapping node, but found scalar', node.at);
      case 'seq':
      case 'pairs':
        throw this.#fault('expected a sequence node, but found scalar', node.at);
      default:
        throw this.#unknown(node);
    }
  }

  /** Data has no bytes: base64 of text becomes the text. */
  #binary(node: ScalarNode): string {
    const bytes = Buffer.from(node.value.replace(/\s/g, ''), 'base64');
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      throw this.#source.fault(
        'yaml-binary',
        'a !!binary value does not hold UTF-8 text',
        node.at,
        'Keep it base64 and decode it where it is used.',
      );
    }
  }

  #wrong({ value, at }: ScalarNode, kind: string): never {
    throw this.#source.fault('yaml-data', `'${value.slice(0, 60)}' is no ${kind}`, at);
  }

  #unknown(node: YamlNode): TsaltError {
    return this.#fault(`could not determine a constructor for the tag '${node.tag}'`, node.at);
  }

  #conflict(node: MappingNode, second: YamlNode, key: DataKey): TsaltError {
    const first = node.pairs.find(
      ([other]) =>
        other !== second && findKey(new Map([[this.#key(other, node), null]]), key) !== undefined,
    );
    const { line } = this.#source.position(first ? first[0].at : node.at);
    const again = this.#source.position(second.at).line;
    return this.#source.fault(
      'yaml-duplicate-key',
      `found conflicting ID '${showKey(key)}': it is on line ${line} and again on line ${again}`,
      second.at,
      'A mapping holds each key once; rename one, or join the two.',
      this.#source.saltText(
        ['while constructing a mapping', node.at],
        [`found conflicting ID '${showKey(key)}'`, second.at],
      ),
    );
  }

  #fault(message: string, at: number): TsaltError {
    const text = this.#source.saltText([message, at]);
    return this.#source.fault('yaml-data', message, at, undefined, text);
  }
}

/** A node and what it holds as Python shows them. */
const showNode = (node: YamlNode): string => {
  const name = { scalar: 'ScalarNode', sequence: 'SequenceNode', mapping: 'MappingNode' }[
    node.kind
  ];
  return `${name}(tag=${pyRepr(node.tag)}, value=${showValue(node)})`;
};

const showValue = (node: YamlNode): string => {
  if (node.kind === 'scalar') return pyRepr(node.value);
  const items =
    node.kind === 'sequence'
      ? node.items.map(showNode)
      : node.pairs.map(([key, value]) => `(${showNode(key)}, ${showNode(value)})`);
  return `[${items.join(', ')}]`;
};

const showKey = (key: DataKey): string => {
  if (key === null) return 'None';
  if (typeof key === 'boolean') return key ? 'True' : 'False';
  return String(key instanceof Float ? key.toString() : key);
};
