import { code, isBlank, isBreakOrEnd, isDigit, isNameUnit, isSpaceOrEnd } from './characters.ts';
import type { Reader } from './reader.ts';
import { type Token, tokenOf } from './token.ts';

const takeName = (reader: Reader): string => {
  const from = reader.offset;
  while (isNameUnit(reader.peek())) reader.skip();
  return reader.text.slice(from, reader.offset);
};

/** `&name` or `*name`. */
export const scanAnchor = (reader: Reader, kind: 'anchor' | 'alias'): Token => {
  const start = reader.offset;
  reader.skip();
  const name = takeName(reader);
  if (name === '' || !(isSpaceOrEnd(reader.peek()) || '?:,]}%@`'.includes(here(reader))))
    throw reader.fault(
      'did not find expected alphabetic or numeric character',
      `while scanning an ${kind}`,
      start,
    );
  return tokenOf(kind, start, reader.offset, name);
};

const here = (reader: Reader): string => reader.text.charAt(reader.offset);

/** `!`, `!suffix`, `!handle!suffix` or `!<the whole tag>`. */
export const scanTag = (reader: Reader, flow: boolean): Token => {
  const start = reader.offset;
  let handle = '';
  let suffix: string;
  if (reader.peek(1) === code.less) {
    reader.skip(2);
    suffix = scanUri(reader, 'while parsing a tag', start, '', verbatimUnits);
    if (reader.peek() !== code.greater)
      throw reader.fault("did not find the expected '>'", 'while scanning a tag', start);
    reader.skip();
  } else {
    reader.skip();
    const name = takeName(reader);
    const isHandle = reader.peek() === code.exclamation;
    if (isHandle) reader.skip();
    handle = isHandle ? `!${name}!` : '!';
    const head = isHandle ? '' : name;
    suffix = scanUri(reader, 'while parsing a tag', start, head, tagUnits, !isHandle);
    if (suffix === '' && !isHandle) [handle, suffix] = ['', '!'];
  }
  if (!isSpaceOrEnd(reader.peek()) && !(flow && reader.peek() === code.comma))
    throw reader.fault(
      'did not find expected whitespace or line break',
      'while scanning a tag',
      start,
    );
  return tokenOf('tag', start, reader.offset, suffix, handle);
};

const tagUnits = /[\w\-;/?:@&=+$.%!~*'()]/;
const verbatimUnits = /[\w\-;/?:@&=+$.%!~*'(),[\]]/;

/** A tag or its prefix, escapes resolved; it may be empty only where `mayBeEmpty`. */
const scanUri = (
  reader: Reader,
  context: string,
  start: number,
  head: string,
  allowed: RegExp,
  mayBeEmpty = false,
): string => {
  let uri = head;
  while (allowed.test(here(reader))) {
    if (reader.peek() === code.percent) uri += scanUriEscapes(reader, context, start);
    else {
      uri += here(reader);
      reader.skip();
    }
  }
  if (uri === '' && !mayBeEmpty)
    throw reader.fault('did not find expected tag URI', context, start);
  return uri;
};

/** One character, as the `%xx` of its UTF-8 bytes. */
const scanUriEscapes = (reader: Reader, context: string, start: number): string => {
  const bytes: number[] = [];
  let width = 1;
  while (bytes.length < width) {
    const written = /^%([0-9a-fA-F]{2})$/.exec(reader.text.slice(reader.offset, reader.offset + 3));
    if (!written) throw reader.fault('did not find URI escaped octet', context, start);
    const byte = Number.parseInt(written[1] ?? '', 16);
    if (bytes.length === 0) {
      width = widthOf(byte);
      if (width === 0) throw reader.fault('found an incorrect leading UTF-8 octet', context, start);
    } else if ((byte & 0xc0) !== 0x80)
      throw reader.fault('found an incorrect trailing UTF-8 octet', context, start);
    bytes.push(byte);
    reader.skip(3);
  }
  return Buffer.from(bytes).toString('utf8');
};

const widthOf = (leading: number): number => {
  if (leading < 0x80) return 1;
  if ((leading & 0xe0) === 0xc0) return 2;
  if ((leading & 0xf0) === 0xe0) return 3;
  return (leading & 0xf8) === 0xf0 ? 4 : 0;
};

/** A line `%YAML 1.1` or `%TAG !handle! prefix`. */
export const scanDirective = (reader: Reader): Token => {
  const start = reader.offset;
  reader.skip();
  const name = takeDirectiveName(reader, start);
  const directive =
    name === 'YAML'
      ? tokenOf('directive', start, start, scanVersion(reader, start))
      : scanTagDirective(reader, start);
  reader.skipBlanks();
  reader.skipComment();
  if (!isBreakOrEnd(reader.peek()))
    throw reader.fault(
      'did not find expected comment or line break',
      'while scanning a directive',
      start,
    );
  reader.takeBreak();
  return directive;
};

const takeDirectiveName = (reader: Reader, start: number): string => {
  const context = 'while scanning a directive';
  const name = takeName(reader);
  if (name === '') throw reader.fault('could not find expected directive name', context, start);
  if (!isSpaceOrEnd(reader.peek()))
    throw reader.fault('found unexpected non-alphabetical character', context, start);
  if (name !== 'YAML' && name !== 'TAG')
    throw reader.fault('found unknown directive name', context, start);
  return name;
};

const scanVersion = (reader: Reader, start: number): string => {
  const context = 'while scanning a %YAML directive';
  reader.skipBlanks();
  const major = scanVersionNumber(reader, context, start);
  if (reader.peek() !== code.dot)
    throw reader.fault("did not find expected digit or '.' character", context, start);
  reader.skip();
  return `${major}.${scanVersionNumber(reader, context, start)}`;
};

const scanVersionNumber = (reader: Reader, context: string, start: number): number => {
  const from = reader.offset;
  for (; isDigit(reader.peek()); reader.skip())
    if (reader.offset - from === 9)
      throw reader.fault('found extremely long version number', context, start);
  if (reader.offset === from)
    throw reader.fault('did not find expected version number', context, start);
  return Number(reader.text.slice(from, reader.offset));
};

const scanTagDirective = (reader: Reader, start: number): Token => {
  const context = 'while scanning a %TAG directive';
  reader.skipBlanks();
  if (reader.peek() !== code.exclamation)
    throw reader.fault("did not find expected '!'", 'while scanning a tag directive', start);
  reader.skip();
  const name = takeName(reader);
  const closed = reader.peek() === code.exclamation;
  if (closed) reader.skip();
  else if (name !== '')
    throw reader.fault("did not find expected '!'", 'while parsing a tag directive', start);
  if (!isBlank(reader.peek()))
    throw reader.fault('did not find expected whitespace', context, start);
  reader.skipBlanks();
  const prefix = scanUri(reader, 'while parsing a %TAG directive', start, '', verbatimUnits);
  if (!isSpaceOrEnd(reader.peek()))
    throw reader.fault('did not find expected whitespace or line break', context, start);
  return tokenOf('tag-directive', start, reader.offset, prefix, closed ? `!${name}!` : '!');
};
