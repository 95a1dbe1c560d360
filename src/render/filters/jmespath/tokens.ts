import type { Data } from '../../../data/values/value.ts';
import { JsonReader } from '../../json-reader.ts';

export type JmespathToken = {
  /** An operator as written, or `name`, `number`, `literal`, `end`. */
  readonly kind: string;
  /** The value of a name, number or literal. */
  readonly value: Data;
  /** A quoted name cannot be a function. */
  readonly isQuoted?: boolean;
  readonly at: number;
};

const pattern =
  /\s*(?:(?<name>[A-Za-z_]\w*)|(?<number>-?\d+)|(?<quoted>"(?:\\.|[^"\\])*")|(?<raw>'(?:\\.|[^'\\])*')|(?<json>`(?:\\.|[^`\\])*`)|(?<operator>\[\?|\[\]|\|\||&&|[!=<>]=|[.*@&|()[\]{},:!<>]))/suy;

/** @throws TypeError for text that is not JMESPath. */
export const tokenizeJmespath = (text: string): JmespathToken[] => {
  const tokens: JmespathToken[] = [];
  let at = 0;
  for (;;) {
    pattern.lastIndex = at;
    const groups = pattern.exec(text)?.groups;
    if (!groups) break;
    tokens.push(tokenOf(groups, text, at));
    at = pattern.lastIndex;
  }
  if (text.slice(at).trim() !== '') throw jmespathError(text, at);
  tokens.push({ kind: 'end', value: null, at: text.length });
  return tokens;
};

const tokenOf = (
  groups: Record<string, string | undefined>,
  text: string,
  at: number,
): JmespathToken => {
  const { name, number, quoted, raw, json, operator = '' } = groups;
  if (name !== undefined) return { kind: 'name', value: name, at };
  if (number !== undefined) return { kind: 'number', value: Number(number), at };
  if (quoted !== undefined)
    return { kind: 'name', value: jsonOf(quoted, text, at), isQuoted: true, at };
  if (raw !== undefined)
    return { kind: 'literal', value: raw.slice(1, -1).replaceAll("\\'", "'"), at };
  if (json !== undefined) {
    const source = json.slice(1, -1).replaceAll('\\`', '`');
    return { kind: 'literal', value: literalOf(source, text, at), at };
  }
  return { kind: operator, value: null, at };
};

/** A string without quotes is taken literally, as in older JMESPath. */
const literalOf = (source: string, text: string, at: number): Data => {
  try {
    return new JsonReader(source).read();
  } catch {
    return jsonOf(`"${source.trimStart()}"`, text, at);
  }
};

const jsonOf = (source: string, text: string, at: number): Data => {
  try {
    return new JsonReader(source).read();
  } catch {
    throw jmespathError(text, at);
  }
};

/** Returns the error of a query, with its position. */
export const jmespathError = (text: string, at: number): TypeError =>
  new TypeError(
    at >= text.length
      ? `the JMESPath query '${text}' is not complete`
      : `the JMESPath query '${text}' makes no sense at '${text.slice(at).trim()}'`,
  );
