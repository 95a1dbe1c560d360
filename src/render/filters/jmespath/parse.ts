import type { Data } from '../../../data/values/value.ts';
import { type JmespathToken, jmespathError, tokenizeJmespath } from './tokens.ts';

/** A node of a query, evaluated against a value. */
export type Node =
  | { readonly kind: 'current' }
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'slice'; readonly parts: readonly (number | null)[] }
  | { readonly kind: 'literal'; readonly value: Data }
  | { readonly kind: 'list'; readonly items: readonly Node[] }
  | { readonly kind: 'dict'; readonly items: readonly (readonly [string, Node])[] }
  | { readonly kind: 'call'; readonly name: string; readonly args: readonly Node[] }
  | { readonly kind: 'reference' | 'not' | 'flatten'; readonly of: Node }
  | {
      readonly kind: 'compare';
      readonly operator: string;
      readonly left: Node;
      readonly right: Node;
    }
  | { readonly kind: 'chain' | 'and' | 'or'; readonly left: Node; readonly right: Node }
  | { readonly kind: 'each' | 'values'; readonly left: Node; readonly right: Node }
  | { readonly kind: 'filter'; readonly left: Node; readonly test: Node; readonly right: Node };

const strengths: Readonly<Record<string, number>> = {
  '|': 1,
  '||': 2,
  '&&': 3,
  '==': 5,
  '!=': 5,
  '<': 5,
  '<=': 5,
  '>': 5,
  '>=': 5,
  '[]': 9,
  '*': 20,
  '[?': 21,
  '.': 40,
  '!': 45,
  '{': 50,
  '[': 55,
  '(': 60,
};

/** Operators that bind weaker than this end a projection. */
const projectionEnd = 10;
const deepest = 200;
const current: Node = { kind: 'current' };

/** @throws TypeError if the query is not JMESPath. */
export const parseQuery = (text: string): Node => {
  const parser = new Parser(text);
  return parser.whole();
};

class Parser {
  readonly #text: string;
  readonly #tokens: readonly JmespathToken[];
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
    this.#tokens = tokenizeJmespath(text);
  }

  whole(): Node {
    const node = this.#expression(0);
    if (this.#next.kind !== 'end') throw this.#fault();
    return node;
  }

  get #next(): JmespathToken {
    return this.#tokens[this.#at] ?? { kind: 'end', value: null, at: this.#text.length };
  }

  #fault(token = this.#next): TypeError {
    return jmespathError(this.#text, token.at);
  }

  #take(kind?: string): JmespathToken {
    const token = this.#next;
    if (kind !== undefined && token.kind !== kind) throw this.#fault();
    this.#at += 1;
    return token;
  }

  #takeIf(kind: string): boolean {
    if (this.#next.kind !== kind) return false;
    this.#at += 1;
    return true;
  }

  #expression(strength: number): Node {
    this.#depth += 1;
    if (this.#depth > deepest) throw new TypeError('the JMESPath query is nested too deep');
    let left = this.#start(this.#take());
    while (strength < (strengths[this.#next.kind] ?? 0)) left = this.#rest(left, this.#take());
    this.#depth -= 1;
    return left;
  }

  #start(token: JmespathToken): Node {
    switch (token.kind) {
      case 'literal':
        return { kind: 'literal', value: token.value };
      case 'name':
        if (token.isQuoted && this.#next.kind === '(') throw this.#fault(token);
        return { kind: 'field', name: String(token.value) };
      case '*':
        return this.#projection('values', current);
      case '@':
        return current;
      case '&':
        return { kind: 'reference', of: this.#expression(0) };
      case '!':
        return { kind: 'not', of: this.#expression(strengths['!'] ?? 0) };
      case '(': {
        const node = this.#expression(0);
        this.#take(')');
        return node;
      }
      case '{':
        return this.#dict();
      case '[]':
        return this.#projection('each', { kind: 'flatten', of: current });
      case '[?':
        return this.#filter(current);
      case '[':
        return this.#bracket(current) ?? this.#list();
      default:
        throw this.#fault(token);
    }
  }

  #rest(left: Node, token: JmespathToken): Node {
    const strength = strengths[token.kind] ?? 0;
    switch (token.kind) {
      case '.':
        if (this.#takeIf('*')) return this.#projection('values', left);
        return chain(left, this.#afterDot(strength));
      case '|':
        return chain(left, this.#expression(strength));
      case '||':
        return { kind: 'or', left, right: this.#expression(strength) };
      case '&&':
        return { kind: 'and', left, right: this.#expression(strength) };
      case '(':
        return this.#call(left, token);
      case '[?':
        return this.#filter(left);
      case '[]':
        return this.#projection('each', { kind: 'flatten', of: left });
      case '[': {
        const node = this.#bracket(left);
        if (!node) throw this.#fault();
        return node;
      }
      default:
        if (strength !== strengths['==']) throw this.#fault(token);
        return { kind: 'compare', operator: token.kind, left, right: this.#expression(strength) };
    }
  }

  #afterDot(strength: number): Node {
    const { kind } = this.#next;
    if (kind === 'name' || kind === '*') return this.#expression(strength);
    if (this.#takeIf('[')) return this.#list();
    if (this.#takeIf('{')) return this.#dict();
    throw this.#fault();
  }

  #call(left: Node, token: JmespathToken): Node {
    if (left.kind !== 'field') throw this.#fault(token);
    const args: Node[] = [];
    while (!this.#takeIf(')')) {
      if (args.length > 0) this.#take(',');
      args.push(this.#expression(0));
    }
    return { kind: 'call', name: left.name, args };
  }

  #filter(left: Node): Node {
    const test = this.#expression(0);
    this.#take(']');
    const right = this.#next.kind === '[]' ? current : this.#projected(strengths['[?'] ?? 0);
    return { kind: 'filter', left, test, right };
  }

  /** `[0]`, `[1:2]`, `[*]`; undefined at the start of a list of expressions. */
  #bracket(left: Node): Node | undefined {
    if (this.#next.kind === '*' && this.#tokens[this.#at + 1]?.kind === ']') {
      this.#at += 2;
      return this.#projection('each', left);
    }
    if (this.#next.kind !== 'number' && this.#next.kind !== ':') return undefined;
    const parts = this.#slice();
    const [index = null] = parts;
    if (parts.length === 1 && index !== null) return chain(left, { kind: 'index', index });
    return this.#projection('each', chain(left, { kind: 'slice', parts }));
  }

  #slice(): (number | null)[] {
    const parts: (number | null)[] = [null];
    while (!this.#takeIf(']')) {
      if (this.#takeIf(':')) parts.push(null);
      else if (parts.at(-1) === null) parts[parts.length - 1] = Number(this.#take('number').value);
      else throw this.#fault();
      if (parts.length > 3) throw this.#fault();
    }
    return parts;
  }

  #list(): Node {
    const items: Node[] = [];
    do items.push(this.#expression(0));
    while (this.#takeIf(','));
    this.#take(']');
    return { kind: 'list', items };
  }

  #dict(): Node {
    const items: [string, Node][] = [];
    do {
      const name = String(this.#take('name').value);
      this.#take(':');
      items.push([name, this.#expression(0)]);
    } while (this.#takeIf(','));
    this.#take('}');
    return { kind: 'dict', items };
  }

  #projection(kind: 'each' | 'values', left: Node): Node {
    const strength = left.kind === 'flatten' ? (strengths['[]'] ?? 0) : (strengths['*'] ?? 0);
    return { kind, left, right: this.#projected(strength) };
  }

  /** Parses the expression that is applied to each item of a projection. */
  #projected(strength: number): Node {
    const { kind } = this.#next;
    if ((strengths[kind] ?? 0) < projectionEnd) return current;
    if (kind === '[' || kind === '[?') return this.#expression(strength);
    this.#take('.');
    return this.#afterDot(strength);
  }
}

const chain = (left: Node, right: Node): Node =>
  left.kind === 'current' ? right : { kind: 'chain', left, right };
