import { setOwn } from '../../../protocol/plain.ts';
import { type Plain, type PlainDict, SaltInvocationError } from '../../api.ts';

/**
 * Reads the part of YAML that grains files and other small host files are written in: nested
 * mappings and lists in block style, plain and quoted scalars, flow collections on one line,
 * comments. Anything else (anchors, tags, block scalars, several documents) is refused by line
 * rather than guessed.
 *
 * @throws SaltInvocationError naming the line
 */
export const parseSimpleYaml = (text: string, file = 'YAML'): Plain => {
  const lines = text.split('\n').flatMap((raw, index) => {
    const content = stripComment(raw).trimEnd();
    if (content.trim() === '' || content === '---') return [];
    return [
      {
        indent: content.length - content.trimStart().length,
        text: content.trim(),
        number: index + 1,
      },
    ];
  });
  const reader: Reader = { lines, at: 0, file };
  if (lines.length === 0) return null;
  const value = readBlock(reader, lines[0]?.indent ?? 0);
  const rest = reader.lines[reader.at];
  if (rest) throw bad(reader, rest.number, 'its indentation fits nothing above it');
  return value;
};

type Line = { readonly indent: number; readonly text: string; readonly number: number };
type Reader = { readonly lines: Line[]; at: number; readonly file: string };

const readBlock = (reader: Reader, indent: number): Plain => {
  const line = reader.lines[reader.at];
  if (!line) return null;
  if (line.text === '-' || line.text.startsWith('- ')) return readList(reader, indent);
  if (splitKey(line.text)) return readMapping(reader, indent);
  reader.at += 1;
  return scalar(reader, line, line.text);
};

const readList = (reader: Reader, indent: number): Plain[] => {
  const items: Plain[] = [];
  for (;;) {
    const line = reader.lines[reader.at];
    if (!line || line.indent !== indent || !(line.text === '-' || line.text.startsWith('- ')))
      return items;
    const rest = line.text.slice(1).trimStart();
    if (rest === '') {
      reader.at += 1;
      const next = reader.lines[reader.at];
      items.push(next && next.indent > indent ? readBlock(reader, next.indent) : null);
    } else if (rest.startsWith('- ') || splitKey(rest)) {
      const inner = indent + line.text.length - rest.length;
      reader.lines[reader.at] = { ...line, indent: inner, text: rest };
      items.push(readBlock(reader, inner));
    } else {
      reader.at += 1;
      items.push(scalar(reader, line, rest));
    }
  }
};

const readMapping = (reader: Reader, indent: number): PlainDict => {
  const dict: PlainDict = {};
  for (;;) {
    const line = reader.lines[reader.at];
    if (!line || line.indent !== indent) return dict;
    const parts = splitKey(line.text);
    if (!parts) return dict;
    const key = String(scalar(reader, line, parts.key));
    if (Object.hasOwn(dict, key)) throw bad(reader, line.number, `the key "${key}" comes twice`);
    reader.at += 1;
    if (parts.value !== '') {
      setOwn(dict, key, scalar(reader, line, parts.value));
      continue;
    }
    const next = reader.lines[reader.at];
    const listBelow = next && next.indent === indent && /^-(?: |$)/.test(next.text);
    setOwn(
      dict,
      key,
      next && (next.indent > indent || listBelow) ? readBlock(reader, next.indent) : null,
    );
  }
};

const splitKey = (text: string): { key: string; value: string } | undefined => {
  const match =
    /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s"'[\]{},&*!|>%@`#-][^#]*?|-[^\s#][^#]*?)\s*:(?:\s+(.*))?$/.exec(
      text,
    );
  return match ? { key: match[1] ?? '', value: match[2]?.trim() ?? '' } : undefined;
};

const scalar = (reader: Reader, line: Line, text: string): Plain => {
  const first = text[0] ?? '';
  if ('&*!|>%@`'.includes(first) && first !== '')
    throw bad(reader, line.number, `"${first}" is not understood here`);
  if (first === '[' || first === '{') return flow(reader, line, text);
  if (first === '"' || first === "'") return quoted(reader, line, text);
  return plainScalar(text);
};

const quoted = (reader: Reader, line: Line, text: string): string => {
  if (text.length < 2 || !text.endsWith(text[0] ?? ''))
    throw bad(reader, line.number, 'a quote is not closed');
  if (text.startsWith("'")) return text.slice(1, -1).replaceAll("''", "'");
  try {
    return JSON.parse(text) as string;
  } catch {
    throw bad(reader, line.number, 'a quoted text has an escape that is not understood');
  }
};

const flow = (reader: Reader, line: Line, text: string): Plain => {
  let at = 0;
  const skip = (): void => {
    while (text[at] === ' ') at += 1;
  };
  const value = (): Plain => {
    skip();
    if (text[at] === '[') {
      const items: Plain[] = [];
      at += 1;
      for (skip(); text[at] !== ']'; skip()) {
        if (at >= text.length) throw bad(reader, line.number, 'a bracket is not closed');
        items.push(value());
        skip();
        if (text[at] === ',') at += 1;
      }
      at += 1;
      return items;
    }
    if (text[at] === '{') {
      const dict: PlainDict = {};
      at += 1;
      for (skip(); text[at] !== '}'; skip()) {
        if (at >= text.length) throw bad(reader, line.number, 'a brace is not closed');
        const key = String(value());
        skip();
        if (text[at] === ':') {
          at += 1;
          setOwn(dict, key, value());
        } else setOwn(dict, key, null);
        skip();
        if (text[at] === ',') at += 1;
      }
      at += 1;
      return dict;
    }
    const match = /^(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|(?:[^,:\]}]|:(?! ))+)/.exec(text.slice(at));
    if (!match) throw bad(reader, line.number, 'a flow collection is malformed');
    at += match[0].length;
    const token = match[0].trim();
    return /^["']/.test(token) ? quoted(reader, line, token) : plainScalar(token);
  };
  const result = value();
  skip();
  if (at < text.length) throw bad(reader, line.number, 'text follows a flow collection');
  return result;
};

const plainScalar = (text: string): Plain => {
  if (/^(?:~|null|Null|NULL)?$/.test(text)) return null;
  if (/^(?:true|True|TRUE|yes|Yes|YES|on|On|ON)$/.test(text)) return true;
  if (/^(?:false|False|FALSE|no|No|NO|off|Off|OFF)$/.test(text)) return false;
  if (/^[-+]?(?:0|[1-9]\d*)$/.test(text)) return Number(text);
  if (/^[-+]?\d+\.\d*(?:[eE][-+]\d+)?$/.test(text)) return Number(text);
  return text;
};

/** A `#` starts a comment at the line's start or after a blank, outside of quotes. */
const stripComment = (line: string): string => {
  let quote = '';
  for (let at = 0; at < line.length; at += 1) {
    const character = line[at] ?? '';
    if (quote === '"' && character === '\\') at += 1;
    else if (quote) {
      if (character === quote) quote = '';
    } else if (
      (character === '"' || character === "'") &&
      /(?:^|[\s:[{,-])$/.test(line.slice(0, at))
    )
      quote = character;
    else if (character === '#' && (at === 0 || /\s/.test(line[at - 1] ?? '')))
      return line.slice(0, at);
  }
  return line;
};

const bad = (reader: Reader, line: number, why: string): SaltInvocationError =>
  new SaltInvocationError(`${reader.file}:${line} cannot be read: ${why}.`);

/** Plain data as YAML in block style; every reader of YAML reads it back the same. */
export const formatSimpleYaml = (value: Plain, indent = 0): string => {
  const pad = ' '.repeat(indent);
  if (Array.isArray(value) && value.length > 0)
    return value
      .map(item => {
        const text = formatSimpleYaml(item, indent + 2);
        return `${pad}- ${isNested(item) ? text.slice(indent + 2) : text}`;
      })
      .join('\n');
  if (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.keys(value).length > 0
  )
    return Object.entries(value)
      .map(([key, item]) => {
        const head = `${pad}${formatScalar(key)}:`;
        return isNested(item)
          ? `${head}\n${formatSimpleYaml(item, Array.isArray(item) ? indent : indent + 2)}`
          : `${head} ${formatSimpleYaml(item)}`;
      })
      .join('\n');
  return formatScalar(value);
};

const isNested = (value: Plain): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length > 0;

const formatScalar = (value: Plain): string => {
  if (value === null) return 'null';
  if (typeof value !== 'string') return JSON.stringify(value);
  const plain =
    /^[A-Za-z0-9_/.][A-Za-z0-9_./ @+=-]*$/.test(value) &&
    !value.endsWith(' ') &&
    plainScalar(value) === value &&
    !/^[\d.+-]/.test(value);
  return plain ? value : JSON.stringify(value);
};
