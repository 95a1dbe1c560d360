import {
  COLLECTION_STYLE,
  EVENT_ID,
  type Event,
  getScalarValue,
  SCALAR_STYLE,
  type ScalarEvent,
} from 'js-yaml';
import { yamlKind } from '../data/yaml-kind.ts';
import type { Source } from './fault.ts';
import { type MappingNode, type SequenceNode, tagPrefix, type YamlNode } from './node.ts';
import { parse } from './parse.ts';

/** How many nodes aliases may add to what is written; beyond it lies an alias bomb. */
const maxAliased = 1_000_000;

type Open = {
  readonly node: SequenceNode | MappingNode;
  readonly anchor: string | undefined;
  readonly flow: boolean;
  key?: YamlNode;
};

/**
 * The one document of a text as a graph of nodes; `undefined` where there is none.
 * Throws `yaml-…` for what is no YAML, several documents, unknown or recursive aliases, and
 * aliases that multiply beyond reason.
 */
export const compose = (source: Source): YamlNode | undefined => {
  const events = parse(source);
  const anchors = new Map<string, YamlNode | 'open'>();
  const handles = new Map([
    ['!', '!'],
    ['!!', tagPrefix],
  ]);
  const stack: Open[] = [];
  let root: YamlNode | undefined;
  let documents = 0;
  let last = 0;
  let aliased = 0;

  const add = (node: YamlNode): void => {
    const open = stack.at(-1);
    if (!open) root ??= node;
    else if (open.node.kind === 'sequence') open.node.items.push(node);
    else if (open.key) {
      open.node.pairs.push([open.key, node]);
      delete open.key;
    } else open.key = node;
  };

  for (const event of events) {
    if (event.type === EVENT_ID.DOCUMENT) {
      documents += 1;
      if (documents > 1) throw severalDocuments(source, last);
      for (const directive of event.directives)
        if (directive.kind === 'tag') handles.set(directive.handle, directive.prefix);
      continue;
    }
    if (event.type === EVENT_ID.POP) {
      const open = stack.pop();
      if (!open) continue;
      open.node.weight = weigh(open.node);
      if (open.anchor !== undefined) anchors.set(open.anchor, open.node);
      add(open.node);
      continue;
    }
    const offset = offsetOf(source.text, event, last);
    last = Math.max(last, endOf(event, offset));
    if (event.type === EVENT_ID.ALIAS) {
      const name = source.text.slice(event.anchorStart, event.anchorEnd);
      const found = anchors.get(name);
      if (found === undefined)
        throw source.fault(
          'yaml-alias',
          `found undefined alias '${name}'`,
          source.position(offset),
        );
      if (found === 'open')
        throw source.fault(
          'yaml-alias',
          `found unconstructable recursive node '${name}'`,
          source.position(offset),
          'An alias cannot stand inside the node that it names.',
        );
      aliased += found.weight;
      if (aliased > maxAliased) throw bomb(source, offset);
      add(found);
      continue;
    }
    const anchor = anchorOf(source, event);
    if (isBareKey(source.text, event, offset, stack.at(-1)))
      throw source.fault('yaml-syntax', 'did not find expected key', offset);
    const written =
      event.tagStart < 0 ? undefined : source.text.slice(event.tagStart, event.tagEnd);
    const tag = written === undefined ? undefined : fullTag(written, handles);
    if (event.type === EVENT_ID.SCALAR) {
      const value = scalarValue(source.text, event);
      if (/[\ud800-\udfff]/u.test(value))
        throw source.fault('yaml-syntax', 'found invalid Unicode character escape code', offset);
      const plain = event.style === SCALAR_STYLE.PLAIN;
      const node: YamlNode = {
        kind: 'scalar',
        tag:
          tag ?? (plain && written === undefined ? tagPrefix + yamlKind(value) : `${tagPrefix}str`),
        at: offset,
        weight: 1,
        value,
        plain,
      };
      if (anchor !== undefined) anchors.set(anchor, node);
      add(node);
      continue;
    }
    const anchored = anchor !== undefined;
    const node: SequenceNode | MappingNode =
      event.type === EVENT_ID.SEQUENCE
        ? {
            kind: 'sequence',
            tag: tag ?? `${tagPrefix}seq`,
            at: offset,
            weight: 1,
            items: [],
            anchored,
          }
        : {
            kind: 'mapping',
            tag: tag ?? `${tagPrefix}map`,
            at: offset,
            weight: 1,
            pairs: [],
            anchored,
            flat: false,
          };
    if (anchor !== undefined) anchors.set(anchor, 'open');
    stack.push({ node, anchor, flow: event.style === COLLECTION_STYLE.FLOW });
  }
  if (root && root.weight > maxAliased * 10) throw bomb(source, 0);
  return root;
};

const weigh = (node: SequenceNode | MappingNode): number => {
  let sum = 1;
  if (node.kind === 'sequence') for (const item of node.items) sum += item.weight;
  else for (const [key, value] of node.pairs) sum += key.weight + value.weight;
  return sum;
};

const bomb = (source: Source, offset: number) =>
  source.fault(
    'yaml-alias-bomb',
    `the aliases of this document multiply to more than ${maxAliased} nodes`,
    source.position(offset),
    'Aliases of aliases grow by multiplication; write the data out or fetch it by other means.',
  );

/** A block scalar that ends with the text, without a line end, has none either. */
const scalarValue = (text: string, event: ScalarEvent): string => {
  const value = getScalarValue(text, event);
  const block =
    event.style === SCALAR_STYLE.LITERAL_BLOCK || event.style === SCALAR_STYLE.FOLDED_BLOCK;
  return block && event.valueEnd === text.length && /[^\r\n]$/.test(text) && value.endsWith('\n')
    ? value.slice(0, -1)
    : value;
};

const anchorOf = (
  source: Source,
  { anchorStart, anchorEnd }: { readonly anchorStart: number; readonly anchorEnd: number },
): string | undefined => {
  if (anchorStart < 0) return undefined;
  const name = source.text.slice(anchorStart, anchorEnd);
  if (/^[\w-]+$/.test(name)) return name;
  throw source.fault(
    'yaml-syntax',
    'did not find expected alphabetic or numeric character in an anchor',
    source.position(anchorStart),
  );
};

/** A `: value` in a block mapping whose key is missing: libyaml wants a `?` for that. */
const isBareKey = (text: string, event: Event, from: number, open: Open | undefined): boolean => {
  if (event.type !== EVENT_ID.SCALAR || event.valueStart >= 0) return false;
  if (event.tagStart >= 0 || event.anchorStart >= 0) return false;
  if (open?.node.kind !== 'mapping' || open.key || open.flow) return false;
  const next = /(?:\s|#.*)*/y;
  next.lastIndex = from;
  const end = from + (next.exec(text)?.[0].length ?? 0);
  return text.charAt(end) === ':';
};

const severalDocuments = (source: Source, after: number) => {
  const separator = /^---(?:\s|$)/gm;
  separator.lastIndex = after;
  const found = separator.exec(source.text);
  return source.fault(
    'yaml-documents',
    'expected a single document in the stream, but found another document',
    source.position(found?.index ?? after),
    'One file holds one document: remove the `---` in the middle.',
  );
};

type NodeEvent = Exclude<Event, { type: 1 } | { type: 6 }>;

const offsetOf = (text: string, event: NodeEvent, last: number): number => {
  if (event.type === EVENT_ID.ALIAS) return event.anchorStart - 1;
  const starts = [
    event.type === EVENT_ID.SCALAR ? scalarOffset(text, event) : event.start,
    event.anchorStart < 0 ? -1 : event.anchorStart - 1,
    event.tagStart,
  ].filter(start => start >= 0);
  return starts.length === 0 ? last : Math.min(...starts);
};

const scalarOffset = (text: string, { style, valueStart }: ScalarEvent): number => {
  if (valueStart < 0 || style === SCALAR_STYLE.PLAIN) return valueStart;
  if (style === SCALAR_STYLE.SINGLE_QUOTED || style === SCALAR_STYLE.DOUBLE_QUOTED)
    return valueStart - 1;
  const sign = style === SCALAR_STYLE.LITERAL_BLOCK ? '|' : '>';
  const line = text.lastIndexOf('\n', valueStart - 2) + 1;
  const header = text.slice(line, valueStart);
  const comment = header.search(/\s#/);
  const index = header.lastIndexOf(sign, comment < 0 ? undefined : comment);
  return index < 0 ? valueStart : line + index;
};

const endOf = (event: NodeEvent, offset: number): number =>
  event.type === EVENT_ID.SCALAR && event.valueEnd > 0 ? event.valueEnd : offset;

const fullTag = (written: string, handles: ReadonlyMap<string, string>): string | undefined => {
  if (written === '!') return undefined;
  if (written.startsWith('!<')) return decode(written.slice(2, -1));
  const end = written.indexOf('!', 1);
  const handle = end < 0 ? '!' : written.slice(0, end + 1);
  return (handles.get(handle) ?? handle) + decode(written.slice(handle.length));
};

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};
