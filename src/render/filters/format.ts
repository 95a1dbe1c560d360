import { dumpJson } from '../../data/formats/json-dump.ts';
import { dumpYaml } from '../../data/formats/yaml-dump.ts';
import { type Data, isDict } from '../../data/values/value.ts';
import { loadYaml } from '../../yaml/load.ts';
import { JsonReader } from '../json-reader.ts';
import { type FilterTable, isTrueData, toFilterString } from './filter.ts';
import { scalarText } from './python-text.ts';
import { formatXml } from './xml.ts';

/** Filters that serialize and parse data: `yaml`, `json`, `yaml_encode` … */
export const formatFilters: FilterTable = {
  yaml: {
    params: ['flow_style?'],
    run: (value, flow = true) => formatYaml(value, flow === null ? null : isTrueData(flow)),
  },
  json: {
    params: ['sort_keys?', 'indent?'],
    run: (value, sortKeys = true, indent) =>
      dumpJson(value, {
        sortKeys: isTrueData(sortKeys),
        indent: typeof indent === 'number' ? indent : undefined,
      }),
  },
  tojson: {
    params: ['indent?', 'sort_keys?', 'separators?', 'ensure_ascii?'],
    run: (value, indent, sortKeys = false, separators = null, ascii = true) =>
      dumpJson(value, {
        ascii: isTrueData(ascii),
        sortKeys: isTrueData(sortKeys),
        indent: typeof indent === 'number' ? indent : undefined,
        separators: Array.isArray(separators)
          ? [toFilterString(separators[0]), toFilterString(separators[1])]
          : undefined,
      }).replace(/[<>&']/g, char => `\\u00${char.charCodeAt(0).toString(16)}`),
  },
  xml: { params: [], run: value => formatXml(value) },
  yaml_encode: { params: [], run: value => yamlEncode(value) },
  yaml_dquote: { params: [], run: value => yamlDoubleQuote(scalarText(value)) },
  yaml_squote: { params: [], run: value => dumpQuoted(scalarText(value)) },
  dict_to_sls_yaml_params: {
    params: ['flow_style?'],
    run: (value, flow = false) => {
      if (!isDict(value)) throw new TypeError('dict_to_sls_yaml_params takes a dictionary');
      return formatYaml(
        [...value].map(pair => new Map([pair])),
        isTrueData(flow),
      );
    },
  },
  load_yaml: { params: [], run: value => loadYaml(toFilterString(value), { file: 'load_yaml' }) },
  load_json: { params: [], run: value => new JsonReader(toFilterString(value)).read() },
};

/** `|yaml`: Salt's dump without the line end. */
const formatYaml = (value: Data, defaultFlowStyle: boolean | null): string =>
  dumpYaml(value, { defaultFlowStyle }).trim();

/** A double-quoted YAML scalar on one line. */
const yamlDoubleQuote = (text: string): string => {
  const forced = dumpYaml(`\x07${text}`, { width: Number.MAX_SAFE_INTEGER }).trimEnd();
  return `"${forced.slice('"\\a'.length).replace(/[^\x20-\x7e]/gu, escaped)}`;
};

/** PyYAML escapes non-ASCII characters by default. */
const escaped = (char: string): string => {
  const short = { '\x85': 'N', '\xa0': '_', '\u2028': 'L', '\u2029': 'P' }[char];
  if (short !== undefined) return `\\${short}`;
  const code = char.codePointAt(0) ?? 0;
  if (code < 0x100) return `\\x${code.toString(16).toUpperCase()}`;
  const hex = code.toString(16).toUpperCase();
  return code < 0x10000 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
};

const dumpQuoted = (text: string): string =>
  `'${text.replaceAll("'", "''").replaceAll('\n', '\n\n')}'`;

/** Formats a scalar as YAML that parses to the same value; strings are always double-quoted. */
const yamlEncode = (value: Data): string => {
  if (typeof value === 'string') return yamlDoubleQuote(value);
  if (Array.isArray(value) || isDict(value))
    throw new TypeError('yaml_encode() only works with YAML scalar data');
  return dumpYaml(value).trim();
};
