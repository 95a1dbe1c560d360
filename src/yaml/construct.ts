import { setCollectionTaint } from '../data/collection-taint.ts';
import { escapeOf, pyRepr } from '../data/python/python-text.ts';
import { runSteps, type Steps } from '../data/steps.ts';
import type { Ranges } from '../data/taint.ts';
import { findKey } from '../data/values/key.ts';
import { markOrdered } from '../data/values/ordered.ts';
import { NodePositions, setPositions } from '../data/values/position.ts';
import { type Data, type DataKey, type Dict, Float } from '../data/values/value.ts';
import type { TsaltError } from '../protocol/error.ts';
import { flatten } from './merge-keys.ts';
import {
  coreTags,
  type MappingNode,
  type ScalarNode,
  tagPrefix,
  type YamlNode,
  type YamlPair,
} from './node.ts';
import { toFloat, toInt, yamlBool } from './scalar.ts';
import { SharedKeys } from './shared-keys.ts';
import type { YamlSource } from './yaml-error.ts';

const untagged = { scalar: coreTags.str, sequence: coreTags.seq, mapping: coreTags.map };

/** Collections that are filled in one step. */
const stepSize = 500;

/**
 * Constructs data from nodes as Salt's loader does. Aliased nodes become one shared value.
 * Collections are filled level by level, as in PyYAML, so that of several errors the same one is
 * reported.
 */
export class Constructor {
  readonly #source: YamlSource;
  readonly #done = new Map<YamlNode, Data>();
  readonly #unfilled: (() => void)[] = [];
  readonly #strings: SharedStrings | undefined;
  readonly #keys = new SharedKeys();

  /** @param shareStrings keeps equal strings once, in texts that are worth the time */
  constructor(source: YamlSource, { shareStrings = false } = {}) {
    this.#source = source;
    this.#strings = shareStrings ? new SharedStrings() : undefined;
  }

  construct(root: YamlNode): Data {
    return runSteps(this.constructInSteps(root));
  }

  /** As `construct`; a step fills some collections. */
  *constructInSteps(root: YamlNode): Steps<Data> {
    const data = this.#data(root);
    // Filling one collection adds those in it.
    for (let at = 0; at < this.#unfilled.length; at += 1) {
      if (at % stepSize === stepSize - 1) yield;
      this.#unfilled[at]?.();
    }
    this.#unfilled.length = 0;
    return data;
  }

  #data(node: YamlNode): Data {
    const own = this.#source.tags?.get(node.tag);
    if (own) {
      const plain = { ...node, tag: untagged[node.kind] };
      return own(new Constructor(this.#source).construct(plain));
    }
    if (node.kind === 'scalar' && !isClaimed(node)) return this.#scalar(node);
    const isShared = node.kind !== 'scalar' && node.anchored;
    const known = isShared ? this.#done.get(node) : undefined;
    if (known !== undefined) return known;
    const data = this.#collection(node);
    if (isShared) this.#done.set(node, data);
    return data;
  }

  #collection(node: YamlNode): Data {
    switch (node.tag) {
      case coreTags.map:
      case `${tagPrefix}omap`:
        return this.#dict(node);
      case coreTags.seq:
        return this.#list(list => this.#fillSequence(node, list), node);
      case `${tagPrefix}set`:
        return this.#list(list => {
          for (const key of this.#fillMapping(node, new Map()).keys()) list.push(key);
        });
      case `${tagPrefix}pairs`:
        return this.#list(list => this.#fillPairs(node, list));
      case coreTags.str:
      case coreTags.int:
      case coreTags.float:
      case coreTags.bool:
      case coreTags.null:
      case coreTags.timestamp:
      case `${tagPrefix}binary`:
        return this.#valueOf(node);
      default:
        throw this.#unknown(node);
    }
  }

  /**
   * Constructs a collection with a scalar's tag: `!!str {=: x}` is the value of `=`; others are
   * errors.
   */
  #valueOf(node: YamlNode): Data {
    const [, value] =
      (node.kind === 'mapping' && node.pairs.find(([key]) => key.tag === coreTags.value)) || [];
    if (value?.kind === 'scalar') return this.#scalar({ ...value, tag: node.tag });
    throw this.#fault(
      `expected a scalar node, but found ${(value ?? node).kind}`,
      (value ?? node).at,
    );
  }

  #dict(node: YamlNode): Dict {
    const dict: Dict = new Map();
    if (this.#source.ordered) markOrdered(dict);
    this.#unfilled.push(() => this.#fillMapping(node, dict));
    return dict;
  }

  #list(fill: (list: Data[]) => void, node?: YamlNode): Data[] {
    // An array that grows by `push` takes several times the memory of a short list.
    const list = node?.kind === 'sequence' ? new Array<Data>(node.items.length) : [];
    this.#unfilled.push(() => fill(list));
    return list;
  }

  #fillMapping(node: YamlNode, dict: Dict): Dict {
    if (node.kind !== 'mapping')
      throw this.#fault(`expected a mapping node, but found ${node.kind}`, node.at);
    flatten(node, this.#source);
    const count = node.pairs.length;
    const given = new Array<DataKey>(count);
    const offsets = new Array<number>(count);
    for (const [index, [keyNode, valueNode]] of node.pairs.entries()) {
      const key = this.#key(keyNode, node);
      const value = this.#data(valueNode);
      if (findKey(dict, key) !== undefined) throw this.#conflict(node, keyNode, key);
      dict.set(key, value);
      given[index] = key;
      offsets[index] = keyNode.at;
    }
    const keys = this.#keys.of(given);
    setPositions(dict, new NodePositions(this.#source.locate, node.at, offsets, keys));
    if (this.#source.taint) markPairs(dict, keys, node.pairs);
    return dict;
  }

  #key(node: YamlNode, mapping: MappingNode): DataKey {
    if (node.kind === 'scalar' && !isClaimed(node)) return this.#scalar(node);
    throw this.#source.fault(
      'yaml-key',
      `found unacceptable key: a ${node.kind} cannot be a key`,
      node.at,
      'Invalid YAML, possible double curly-brace: an expression of a template that was not rendered.',
      this.#source.saltText(
        ['while constructing a mapping', mapping.at],
        [
          `found unacceptable key ${node.kind === 'scalar' ? node.value : showValue(node)}`,
          node.at,
        ],
      ),
    );
  }

  #fillSequence(node: YamlNode, list: Data[]): void {
    if (node.kind !== 'sequence')
      throw this.#fault(`expected a sequence node, but found ${node.kind}`, node.at);
    for (const [index, item] of node.items.entries()) list[index] = this.#data(item);
    const offsets = node.items.map(item => (item.kind === 'scalar' ? item.at : -1));
    setPositions(list, new NodePositions(this.#source.locate, node.at, offsets));
    if (this.#source.taint) markItems(list, node.items);
  }

  #fillPairs(node: YamlNode, list: Data[]): void {
    if (node.kind !== 'sequence')
      throw this.#pairsFault(`expected a sequence, but found ${node.kind}`, node, node);
    for (const item of node.items) {
      if (item.kind !== 'mapping')
        throw this.#pairsFault(
          `expected a mapping of length 1, but found ${item.kind}`,
          node,
          item,
        );
      const [pair, ...more] = item.pairs;
      if (!pair || more.length > 0) {
        const count = item.pairs.length;
        throw this.#pairsFault(
          `expected a single mapping item, but found ${count} items`,
          node,
          item,
        );
      }
      list.push([this.#data(pair[0]), this.#data(pair[1])]);
    }
  }

  #pairsFault(problem: string, pairs: YamlNode, { at }: YamlNode): TsaltError {
    const salt = this.#source.saltText(['while constructing pairs', pairs.at], [problem, at]);
    return this.#source.fault('yaml-data', problem, at, undefined, salt);
  }

  #scalar(node: ScalarNode): null | boolean | number | bigint | string | Float {
    const { value } = node;
    switch (node.tag) {
      case coreTags.str:
      case coreTags.timestamp:
      case `${tagPrefix}python/unicode`:
        return this.#strings?.of(value) ?? value;
      case coreTags.null:
        return null;
      case coreTags.bool:
        return yamlBool(value) ?? this.#wrong(node, 'bool');
      case coreTags.int:
        return toInt(value) ?? this.#wrong(node, 'int');
      case coreTags.float:
        return toFloat(value) ?? this.#wrong(node, 'float');
      case `${tagPrefix}binary`:
        return this.#binary(node);
      default:
        throw this.#unknown(node);
    }
  }

  /** Decodes base64 to a string, since Data has no bytes. */
  #binary({ value, at }: ScalarNode): string {
    const problem = base64Problem(value);
    if (problem !== undefined) throw this.#fault(problem, at);
    try {
      const bytes = Buffer.from(value.replace(/[^\w+/]/g, ''), 'base64');
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      throw this.#source.fault(
        'yaml-binary',
        'a !!binary value does not hold UTF-8 text',
        at,
        'Keep it base64 and decode it where it is used.',
      );
    }
  }

  #wrong({ value, at }: ScalarNode, kind: string): never {
    throw this.#source.fault('yaml-data', `'${value.slice(0, 60)}' is no ${kind}`, at);
  }

  #unknown(node: YamlNode): TsaltError {
    return this.#fault(
      `could not determine a constructor for the tag ${pyRepr(node.tag)}`,
      node.at,
    );
  }

  #conflict(node: MappingNode, second: YamlNode, key: DataKey): TsaltError {
    const first = node.pairs.find(
      ([other]) =>
        other !== second && findKey(new Map([[this.#key(other, node), null]]), key) !== undefined,
    );
    const line = this.#source.lineName(first ? first[0].at : node.at);
    const again = this.#source.lineName(second.at);
    return this.#source.fault(
      'yaml-duplicate-key',
      `found conflicting ID '${showKey(key)}': it is on ${line} and again on ${again}`,
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

/** Returns one string for all equal ones of a text, as far as they are short. */
class SharedStrings {
  readonly #known = new Map<string, string>();

  of(text: string): string {
    if (text.length > 40) return text;
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    if (this.#known.size < 10_000) this.#known.set(text, text);
    return text;
  }
}

const taintOf = (node: YamlNode): Ranges | undefined =>
  node.kind === 'scalar' ? node.taint : undefined;

/** Records which items of a list a host chose. */
const markItems = (list: Data[], items: readonly YamlNode[]): void => {
  const values = new Map<unknown, Ranges>();
  for (const [index, item] of items.entries()) {
    const ranges = taintOf(item);
    if (ranges) values.set(index, ranges);
  }
  if (values.size > 0) setCollectionTaint(list, { keys: new Map(), values });
};

/** Records which keys and values of a dictionary a host chose. */
const markPairs = (dict: Dict, given: readonly DataKey[], pairs: readonly YamlPair[]): void => {
  const keys = new Map<unknown, Ranges>();
  const values = new Map<unknown, Ranges>();
  for (const [index, [keyNode, valueNode]] of pairs.entries()) {
    const key = given[index];
    const [ofKey, ofValue] = [taintOf(keyNode), taintOf(valueNode)];
    if (ofKey) keys.set(key, ofKey);
    if (ofValue) values.set(key, ofValue);
  }
  if (keys.size + values.size > 0) setCollectionTaint(dict, { keys, values });
};

/** Returns why Python refuses a text as base64; like Python, ignores other characters. */
const base64Problem = (text: string): string | undefined => {
  const foreign = /[^\0-\x7f]+/u.exec(text);
  if (foreign) {
    const last = foreign.index + [...foreign[0]].length - 1;
    const which =
      last === foreign.index
        ? `character '${escapeOf(foreign[0])}' in position ${last}`
        : `characters in position ${foreign.index}-${last}`;
    return `failed to convert base64 data into ascii: 'ascii' codec can't encode ${which}: ordinal not in range(128)`;
  }
  const digits = text.replace(/[^A-Za-z0-9+/=]/g, '');
  const count = digits.replace(/(?<=..)=.*/, '').replaceAll('=', '').length;
  const reason =
    count % 4 === 1
      ? `Invalid base64-encoded string: number of data characters (${count}) cannot be 1 more than a multiple of 4`
      : count % 4 !== 0 && !digits.includes('='.repeat(4 - (count % 4)))
        ? 'Incorrect padding'
        : undefined;
  return reason && `failed to decode base64 data: ${reason}`;
};

const collectionTags = new Set(
  ['map', 'omap', 'seq', 'set', 'pairs'].map(name => tagPrefix + name),
);

/** A scalar whose tag claims that it is a collection: it is refused where that is filled. */
const isClaimed = ({ tag }: ScalarNode): boolean => tag !== coreTags.str && collectionTags.has(tag);

/** Shows a node and its contents as Python does. */
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
