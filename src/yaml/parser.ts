import type { TsaltError } from '../protocol/error.ts';
import type { Source } from './fault.ts';
import { Scanner } from './scanner.ts';
import { parserFault } from './syntax-fault.ts';
import { TagHandles } from './tag-handles.ts';
import type { Token, TokenKind } from './token.ts';

export type NodeEvent = {
  readonly kind: 'scalar' | 'sequence' | 'mapping';
  readonly at: number;
  readonly anchor: string | undefined;
  /** The tag in full; `undefined` where none is written, or only `!`. */
  readonly tag: string | undefined;
  readonly value: string;
  /** What it is shows in its text: it has no tag and no quotes, or the tag `!`. */
  readonly plain: boolean;
  /** Where the text of a scalar stands, quotes included. */
  readonly from: number;
  readonly to: number;
};

export type Event =
  | NodeEvent
  | { readonly kind: 'alias'; readonly at: number; readonly anchor: string }
  | {
      readonly kind: 'end' | 'document-start' | 'document-end' | 'stream-end';
      readonly at: number;
    };

type State = (token: Token) => Event;

const documentEnds: readonly TokenKind[] = [
  'directive',
  'tag-directive',
  'document-start',
  'document-end',
  'stream-end',
];
const sequenceEnds: readonly TokenKind[] = ['block-entry', 'block-end'];
const mappingEnds: readonly TokenKind[] = ['key', 'value', 'block-end'];
const indentlessEnds: readonly TokenKind[] = ['block-entry', 'key', 'value', 'block-end'];

/**
 * Events of a text by libyaml's grammar, with its errors. An open collection is a state on a
 * stack, not a call: depth costs no recursion. Each state gets the next token and takes it or
 * leaves it; no token is looked at before its turn, so that errors come in libyaml's order.
 */
export class Parser {
  readonly #source: Source;
  readonly #scanner: Scanner;
  readonly #handles: TagHandles;
  readonly #states: State[] = [];
  /** Where the open collections begin. */
  readonly #marks: number[] = [];
  #state: State;

  constructor(source: Source) {
    this.#source = source;
    this.#scanner = new Scanner(source);
    this.#handles = new TagHandles(source);
    this.#state = token =>
      this.#documentStart(
        token,
        token.kind === 'document-end' || !documentEnds.includes(token.kind),
      );
  }

  next(): Event {
    return this.#state(this.#scanner.peek());
  }

  #nextToken(): Token {
    this.#scanner.skip();
    return this.#scanner.peek();
  }

  #leave(): void {
    this.#state = this.#states.pop() ?? this.#streamEnd;
  }

  #documentStart(first: Token, isBare: boolean): Event {
    let token = first;
    if (token.kind === 'stream-end') return this.#streamEnd(token);
    const at = token.start;
    this.#handles.begin();
    for (; token.kind === 'directive' || token.kind === 'tag-directive'; token = this.#nextToken())
      this.#handles.add(token);
    if (isBare) this.#state = this.#blockNode;
    else if (token.kind === 'document-start') {
      this.#scanner.skip();
      this.#state = this.#documentContent;
    } else throw parserFault(this.#source, 'did not find expected <document start>', token.start);
    this.#states.push(this.#documentEnd);
    return { kind: 'document-start', at };
  }

  readonly #documentContent: State = token => {
    if (!documentEnds.includes(token.kind)) return this.#node(token, 'block');
    this.#leave();
    return empty(token.start);
  };

  readonly #documentEnd: State = token => {
    if (token.kind === 'document-end') this.#scanner.skip();
    this.#state = this.#nextDocument;
    return { kind: 'document-end', at: token.start };
  };

  readonly #nextDocument: State = first => {
    let token = first;
    while (token.kind === 'document-end') token = this.#nextToken();
    return this.#documentStart(token, false);
  };

  readonly #streamEnd: State = token => {
    this.#state = this.#streamEnd;
    return { kind: 'stream-end', at: token.start };
  };

  readonly #blockNode: State = token => this.#node(token, 'block');

  #node(first: Token, style: 'block' | 'flow', mayBeIndentless = false): Event {
    if (first.kind === 'alias') {
      this.#leave();
      this.#scanner.skip();
      return { kind: 'alias', at: first.start, anchor: first.value };
    }
    const { token, anchor, tag } = this.#properties(first);
    const at = first.start;
    const resolved = tag && this.#handles.resolve(tag, at);
    const isPlain = resolved === undefined || resolved === '!';
    const common = { at, anchor, tag: isPlain ? undefined : resolved };
    if (token.kind === 'plain' || token.kind === 'quoted' || token.kind === 'block-scalar') {
      this.#leave();
      this.#scanner.skip();
      const plain = resolved === '!' || (isPlain && token.kind === 'plain');
      const { start: from, end: to } = token;
      return { kind: 'scalar', ...common, value: token.value, plain, from, to };
    }
    const opened = this.#collectionOf(token, style);
    if (opened) {
      this.#marks.push(token.start);
      this.#scanner.skip();
      this.#state = opened.state;
      return { kind: opened.kind, ...common, value: '', plain: false, from: at, to: at };
    }
    if (mayBeIndentless && token.kind === 'block-entry') {
      this.#state = this.#indentlessEntry;
      return { kind: 'sequence', ...common, value: '', plain: false, from: at, to: at };
    }
    if (anchor === undefined && !tag)
      throw parserFault(this.#source, 'did not find expected node content', token.start, {
        doing: `while parsing a ${style} node`,
        since: at,
      });
    this.#leave();
    const plain = resolved === undefined;
    return { kind: 'scalar', ...common, value: '', plain, from: at, to: at };
  }

  #collectionOf(
    { kind }: Token,
    style: 'block' | 'flow',
  ): { readonly kind: 'sequence' | 'mapping'; readonly state: State } | undefined {
    if (kind === 'flow-sequence-start') return { kind: 'sequence', state: this.#flowSequenceStart };
    if (kind === 'flow-mapping-start') return { kind: 'mapping', state: this.#flowMappingStart };
    if (style === 'flow') return undefined;
    if (kind === 'block-sequence-start') return { kind: 'sequence', state: this.#blockEntry };
    return kind === 'block-mapping-start' ? { kind: 'mapping', state: this.#blockKey } : undefined;
  }

  /** An anchor and a tag, in either order, and the first token that is neither. */
  #properties(first: Token): { token: Token; anchor: string | undefined; tag: Token | undefined } {
    let token = first;
    let anchor: string | undefined;
    let tag: Token | undefined;
    for (;;) {
      if (token.kind === 'anchor' && anchor === undefined) anchor = token.value;
      else if (token.kind === 'tag' && !tag) tag = token;
      else return { token, anchor, tag };
      token = this.#nextToken();
    }
  }

  /** What follows an indicator: a node, or nothing where one of `ends` comes. */
  #content(mark: number, ends: readonly TokenKind[], then: State, isBlockValue: boolean): Event {
    const token = this.#nextToken();
    if (ends.includes(token.kind)) {
      this.#state = then;
      return empty(mark);
    }
    this.#states.push(then);
    return this.#node(token, 'block', isBlockValue);
  }

  readonly #blockEntry: State = token => {
    if (token.kind === 'block-entry')
      return this.#content(token.end, sequenceEnds, this.#blockEntry, false);
    if (token.kind === 'block-end') return this.#close(token);
    throw this.#refused('block collection', "did not find expected '-' indicator", token);
  };

  readonly #indentlessEntry: State = token => {
    if (token.kind === 'block-entry')
      return this.#content(token.end, indentlessEnds, this.#indentlessEntry, false);
    this.#leave();
    return { kind: 'end', at: token.start };
  };

  readonly #blockKey: State = token => {
    if (token.kind === 'key') return this.#content(token.end, mappingEnds, this.#blockValue, true);
    if (token.kind === 'block-end') return this.#close(token);
    throw this.#refused('block mapping', 'did not find expected key', token);
  };

  readonly #blockValue: State = token => {
    if (token.kind === 'value') return this.#content(token.end, mappingEnds, this.#blockKey, true);
    this.#state = this.#blockKey;
    return empty(token.start);
  };

  readonly #flowSequenceStart: State = token => {
    if (token.kind === 'flow-sequence-end') return this.#close(token);
    if (token.kind === 'key') {
      this.#scanner.skip();
      this.#state = this.#flowPairKey;
      return pairAt(token.start);
    }
    this.#states.push(this.#flowSequenceEntry);
    return this.#node(token, 'flow');
  };

  readonly #flowSequenceEntry: State = token => {
    if (token.kind === 'flow-entry') return this.#flowSequenceStart(this.#nextToken());
    if (token.kind === 'flow-sequence-end') return this.#close(token);
    throw this.#refused('flow sequence', "did not find expected ',' or ']'", token);
  };

  /** The key of a mapping with one pair and without braces: `[a: 1]`. */
  readonly #flowPairKey: State = token => {
    if (/^(?:value|flow-entry|flow-sequence-end)$/.test(token.kind)) {
      this.#scanner.skip();
      this.#state = this.#flowPairValue;
      return empty(token.end);
    }
    this.#states.push(this.#flowPairValue);
    return this.#node(token, 'flow');
  };

  readonly #flowPairValue: State = token =>
    this.#flowValue(token, 'flow-sequence-end', this.#flowPairEnd);

  readonly #flowPairEnd: State = token => {
    this.#state = this.#flowSequenceEntry;
    return { kind: 'end', at: token.start };
  };

  readonly #flowMappingStart: State = token => {
    if (token.kind === 'flow-mapping-end') return this.#close(token);
    if (token.kind !== 'key') {
      this.#states.push(this.#flowMissingValue);
      return this.#node(token, 'flow');
    }
    const key = this.#nextToken();
    if (/^(?:value|flow-entry|flow-mapping-end)$/.test(key.kind)) {
      this.#state = this.#flowMappingValue;
      return empty(key.start);
    }
    this.#states.push(this.#flowMappingValue);
    return this.#node(key, 'flow');
  };

  readonly #flowMappingEntry: State = token => {
    if (token.kind === 'flow-entry') return this.#flowMappingStart(this.#nextToken());
    if (token.kind === 'flow-mapping-end') return this.#close(token);
    throw this.#refused('flow mapping', "did not find expected ',' or '}'", token);
  };

  readonly #flowMappingValue: State = token =>
    this.#flowValue(token, 'flow-mapping-end', this.#flowMappingEntry);

  readonly #flowMissingValue: State = token => {
    this.#state = this.#flowMappingEntry;
    return empty(token.start);
  };

  #flowValue(first: Token, end: TokenKind, then: State): Event {
    let token = first;
    if (token.kind === 'value') {
      token = this.#nextToken();
      if (token.kind !== 'flow-entry' && token.kind !== end) {
        this.#states.push(then);
        return this.#node(token, 'flow');
      }
    }
    this.#state = then;
    return empty(token.start);
  }

  #close(token: Token): Event {
    this.#leave();
    this.#marks.pop();
    this.#scanner.skip();
    return { kind: 'end', at: token.start };
  }

  #refused(collection: string, problem: string, token: Token): TsaltError {
    return parserFault(this.#source, problem, token.start, {
      doing: `while parsing a ${collection}`,
      since: this.#marks.at(-1) ?? 0,
    });
  }
}

/** A node that is not written. */
const empty = (at: number): Event => ({
  kind: 'scalar',
  at,
  anchor: undefined,
  tag: undefined,
  value: '',
  plain: true,
  from: at,
  to: at,
});

/** A mapping of one pair without braces. */
const pairAt = (at: number): Event => ({
  kind: 'mapping',
  at,
  anchor: undefined,
  tag: undefined,
  value: '',
  plain: true,
  from: at,
  to: at,
});
