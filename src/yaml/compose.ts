import { yamlKind } from '../data/formats/yaml-kind.ts';
import { runSteps, type Steps } from '../data/steps.ts';
import type { TaintRange } from '../data/taint.ts';
import type { TsaltError } from '../protocol/error.ts';
import {
  coreTags,
  type MappingNode,
  maxDepth,
  type ScalarNode,
  type SequenceNode,
  type YamlNode,
} from './node.ts';
import { keepEvents, type Parsed, parse } from './parse.ts';
import { EventReader, type NodeEvent } from './reader.ts';
import { scalarTaint, taintError } from './scalar-taint.ts';
import { checkTaint } from './taint-check.ts';
import type { YamlSource } from './yaml-error.ts';

/** Limit of nodes that aliases may add to the written ones; an alias bomb exceeds it. */
const maxAliased = 1_000_000;

const unprintable = /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

/**
 * Composes the only document of a text to a graph of nodes; `undefined` if there is none. Throws
 * `yaml-…` for invalid YAML, several documents, unknown or recursive aliases, and aliases that
 * multiply excessively.
 */
export const compose = (source: YamlSource): YamlNode | undefined => {
  refuseUnprintable(source);
  return runSteps(composeInSteps(source));
};

/**
 * As `compose`, for a text that `refuseUnprintable` accepts; a step reads a part of the events.
 *
 * @param known - the events, if the text has been parsed
 */
export const composeInSteps = function* (
  source: YamlSource,
  known?: Parsed,
): Steps<YamlNode | undefined> {
  const parsed = known ?? (yield* checked(source)) ?? parse(source);
  keepEvents(source, parsed);
  const parser = new EventReader(source, parsed);
  const start = parser.next();
  if (start.kind === 'stream-end') return undefined;
  const root = yield* new Composer(source).document(parser);
  const next = parser.next();
  if (next.kind === 'stream-end') return root;
  throw source.fault(
    'yaml-documents',
    'expected a single document in the stream, but found another document',
    next.at,
    'One file holds one document: remove the `---` in the middle.',
    source.saltText(
      ['expected a single document in the stream', root?.at ?? start.at],
      ['but found another document', next.at],
    ),
  );
};

/** Returns the events that the taint check parsed, if it had to parse. */
const checked = function* (source: YamlSource): Steps<Parsed | undefined> {
  const { taint } = source;
  if (!taint) return undefined;
  const refuse = (range: TaintRange): never => {
    throw taintError(source, taint, range, range.start);
  };
  return yield* checkTaint(source, taint.ranges, refuse);
};

export const refuseUnprintable = (source: YamlSource): void => {
  const bad = unprintable.exec(source.text);
  if (!bad) return;
  const code = (bad[0].codePointAt(0) ?? 0).toString(16).padStart(4, '0');
  throw source.fault(
    'yaml-character',
    `unacceptable character #x${code}: control characters are not allowed`,
    bad.index,
    'Write it as an escape in a double-quoted string, or remove it.',
  );
};

/** Events that are composed in one step. */
const stepSize = 2000;

type Open = {
  readonly node: SequenceNode | MappingNode;
  key?: YamlNode;
};

/** Composes the documents of a text, or the pieces of one document, whose anchors are common. */
export class Composer {
  readonly #source: YamlSource;
  readonly #anchors = new Map<string, YamlNode>();
  readonly #stack: Open[] = [];
  #root: YamlNode | undefined;
  #aliased = 0;
  #weight = 0;

  constructor(source: YamlSource) {
    this.#source = source;
  }

  /** Composes the document that has begun. */
  *document(parser: EventReader): Steps<YamlNode | undefined> {
    this.#root = undefined;
    for (let count = 1; ; count += 1) {
      if (count % stepSize === 0) yield;
      const event = parser.next();
      switch (event.kind) {
        case 'alias':
          this.#add(this.#aliasOf(event.anchor, event.at));
          break;
        case 'scalar':
          this.#begin(event, this.#scalarOf(event));
          break;
        case 'sequence':
        case 'mapping':
          this.#open(event);
          break;
        case 'end':
          this.#close();
          break;
        default:
          return this.#whole();
      }
    }
  }

  #whole(): YamlNode | undefined {
    this.#weight += this.#root?.weight ?? 0;
    if (this.#weight > maxAliased * 10) throw this.#bomb(0);
    return this.#root;
  }

  hasAnchor(node: YamlNode): boolean {
    return [...this.#anchors.values()].includes(node);
  }

  #add(node: YamlNode): void {
    const open = this.#stack.at(-1);
    if (!open) this.#root ??= node;
    else if (open.node.kind === 'sequence') open.node.items.push(node);
    else if (open.key) {
      open.node.pairs.push([open.key, node]);
      delete open.key;
    } else open.key = node;
  }

  /** Registers a node under its anchor, for aliases that follow. */
  #begin({ anchor, at }: NodeEvent, node: YamlNode): void {
    this.#add(node);
    if (anchor === undefined) return;
    const first = this.#anchors.get(anchor);
    if (first) {
      throw this.#source.fault(
        'yaml-anchor',
        `found duplicate anchor '${anchor}': its first occurrence is on ${this.#source.lineName(first.at)}`,
        at,
        'Each anchor has a name of its own; rename one.',
      );
    }
    this.#anchors.set(anchor, node);
  }

  #scalarOf(event: NodeEvent): YamlNode {
    const node = scalarOf(event);
    const { taint } = this.#source;
    if (!taint) return node;
    const ranges = scalarTaint(this.#source.text, event, taint.ranges);
    if (!ranges) return node;
    const open = this.#stack.at(-1);
    const isKey = open?.node.kind === 'mapping' && !open.key;
    if (isKey && event.plain && mergeKinds.has(node.tag))
      throw taintError(this.#source, taint, ranges[0], event.from);
    taint.onScalar?.(event.value, ranges);
    return { ...node, taint: ranges };
  }

  #open(event: NodeEvent): void {
    const { kind, at, tag } = event;
    const anchored = event.anchor !== undefined;
    const node: SequenceNode | MappingNode =
      kind === 'sequence'
        ? { kind, tag: tag ?? coreTags.seq, at, weight: 1, items: [], anchored }
        : {
            kind: 'mapping',
            tag: tag ?? coreTags.map,
            at,
            weight: 1,
            pairs: [],
            anchored,
            flat: false,
          };
    this.#begin(event, node);
    this.#stack.push({ node });
    if (this.#stack.length > maxDepth)
      throw this.#source.fault(
        'yaml-depth',
        `the document nests deeper than ${maxDepth} levels`,
        at,
        'Split it, or check its brackets.',
      );
  }

  #close(): void {
    const node = this.#stack.pop()?.node;
    if (node) node.weight = weigh(node);
  }

  #aliasOf(name: string, at: number): YamlNode {
    const found = this.#anchors.get(name);
    if (!found) throw this.#source.fault('yaml-alias', `found undefined alias '${name}'`, at);
    if (this.#stack.some(({ node }) => node === found))
      throw this.#source.fault(
        'yaml-alias',
        `found unconstructable recursive node '${name}'`,
        at,
        'An alias cannot be inside the node that it names.',
      );
    this.#aliased += found.weight;
    if (this.#aliased > maxAliased) throw this.#bomb(at);
    return found;
  }

  #bomb(at: number): TsaltError {
    return this.#source.fault(
      'yaml-alias-bomb',
      `the aliases of this document multiply to more than ${maxAliased} nodes`,
      at,
      'Aliases of aliases grow by multiplication; write the data out or fetch it by other means.',
    );
  }
}

const scalarOf = ({ at, tag, value, plain }: NodeEvent): ScalarNode => ({
  kind: 'scalar',
  tag: tag ?? (plain ? coreTags[yamlKind(value)] : coreTags.str),
  at,
  weight: 1,
  value,
  plain,
});

/** Keys that are no data: `<<` and `=`. */
const mergeKinds: ReadonlySet<string> = new Set([coreTags.merge, coreTags.value]);

const weigh = (node: SequenceNode | MappingNode): number => {
  let sum = 1;
  if (node.kind === 'sequence') for (const item of node.items) sum += item.weight;
  else for (const [key, value] of node.pairs) sum += key.weight + value.weight;
  return sum;
};
