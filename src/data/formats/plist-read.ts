import { shortened } from '../shortened.ts';
import { type Data, type Dict, Float } from '../values/value.ts';

/**
 * Parses an XML property list.
 *
 * @throws TypeError for anything else, including a binary property list
 */
export const parsePlist = (text: string): Data => {
  if (text.startsWith('bplist')) throw new TypeError('binary property lists are not read');
  const reader = new Reader(text);
  reader.open('plist');
  const value = reader.value();
  reader.close('plist');
  return value;
};

/** The limit of nesting, as for YAML. */
const maxDepth = 500;

type Tag = { readonly name: string; readonly kind: 'open' | 'close' | 'empty' };

const skipped = /\s+|<\?[\s\S]*?\?>|<!--[\s\S]*?-->|<!DOCTYPE[^>[]*>/y;
const tag = /<(\/?)([a-z]+)(?:\s[^<>]*?)?(\/?)>/y;

class Reader {
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  open(name: string): void {
    this.#expect(name, 'open');
  }

  close(name: string): void {
    this.#expect(name, 'close');
  }

  value(): Data {
    return this.#valueOf(this.#tag());
  }

  #valueOf({ name, kind }: Tag): Data {
    if (kind === 'close') throw this.#fault(`</${name}> closes nothing`);
    const isEmpty = kind === 'empty';
    if (name === 'dict') return isEmpty ? new Map() : this.#below(() => this.#dict());
    if (name === 'array') return isEmpty ? [] : this.#below(() => this.#list());
    const content = isEmpty ? '' : this.#content(name);
    if (name === 'true' || name === 'false') return name === 'true';
    if (name === 'string') return content;
    if (name === 'integer') return this.#integer(content.trim());
    if (name === 'real') return new Float(Number(content.trim()));
    throw this.#fault(`<${name}> cannot be merged`);
  }

  #below<T>(read: () => T): T {
    if (this.#depth >= maxDepth) throw this.#fault(`it nests deeper than ${maxDepth} levels`);
    this.#depth += 1;
    const value = read();
    this.#depth -= 1;
    return value;
  }

  #dict(): Dict {
    const dict: Dict = new Map();
    for (
      let next = this.#tag();
      next.name !== 'dict' || next.kind !== 'close';
      next = this.#tag()
    ) {
      if (next.name !== 'key' || next.kind === 'close') throw this.#fault('a <key> is missing');
      const key = next.kind === 'empty' ? '' : this.#content('key');
      dict.set(key, this.value());
    }
    return dict;
  }

  #list(): Data[] {
    const list: Data[] = [];
    for (let next = this.#tag(); next.name !== 'array' || next.kind !== 'close'; next = this.#tag())
      list.push(this.#valueOf(next));
    return list;
  }

  #integer(text: string): number | bigint {
    if (!/^[+-]?(?:\d+|0x[\da-f]+)$/i.test(text))
      throw this.#fault(`'${shortened(text)}' is no integer`);
    const value = BigInt(text.replace(/^\+/, ''));
    const small = Number(value);
    return Number.isSafeInteger(small) ? small : value;
  }

  /** Reads text up to the end of this element. */
  #content(name: string): string {
    const end = this.#text.indexOf('<', this.#at);
    const raw = this.#text.slice(this.#at, end < 0 ? undefined : end);
    this.#at += raw.length;
    this.close(name);
    return raw.replace(/&(#x?[\da-f]+|\w+);/gi, (_, entity: string) => this.#entity(entity));
  }

  #entity(entity: string): string {
    const named = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }[entity];
    if (named !== undefined) return named;
    const digits = /^#(x?)([\da-f]+)$/i.exec(entity);
    const code = digits ? Number.parseInt(digits[2] ?? '', digits[1] ? 16 : 10) : Number.NaN;
    if (!(code <= 0x10ffff)) throw this.#fault(`&${shortened(entity)}; means nothing`);
    return String.fromCodePoint(code);
  }

  #expect(name: string, kind: Tag['kind']): void {
    const found = this.#tag();
    if (found.name === name && found.kind === kind) return;
    throw this.#fault(`<${kind === 'close' ? '/' : ''}${name}> is missing`);
  }

  #tag(): Tag {
    let at = this.#at;
    skipped.lastIndex = at;
    while (skipped.test(this.#text)) at = skipped.lastIndex;
    tag.lastIndex = at;
    const found = tag.exec(this.#text);
    if (!found) throw this.#fault('a tag is missing');
    this.#at = tag.lastIndex;
    const kind = found[1] ? 'close' : found[3] ? 'empty' : 'open';
    return { name: found[2] ?? '', kind };
  }

  #fault(what: string): TypeError {
    const line = this.#text.slice(0, this.#at).split('\n').length;
    return new TypeError(`line ${line} of the property list: ${what}`);
  }
}
