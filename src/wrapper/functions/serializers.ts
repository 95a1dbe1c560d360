import { dumpIni, parseIni } from '../../data/formats/ini.ts';
import { dumpJson } from '../../data/formats/json-dump.ts';
import {
  dumpKeyValues,
  type KeyValueOptions,
  parseKeyValues,
} from '../../data/formats/keyvalue.ts';
import { dumpPlist } from '../../data/formats/plist-dump.ts';
import { parsePlist } from '../../data/formats/plist-read.ts';
import { dumpToml } from '../../data/formats/toml-dump.ts';
import { dumpYaml } from '../../data/formats/yaml-dump.ts';
import { type Data, type Dict, isDict, keyText } from '../../data/values/value.ts';
import { TsaltError } from '../../protocol/error.ts';
import { formatPython } from '../../render/jinja/filters/pformat.ts';
import { textOf } from '../../render/jinja/values/text.ts';
import { JsonReader } from '../../render/json-reader.ts';
import { readToml } from '../../render/toml.ts';
import { loadYaml } from '../../yaml/load.ts';
import { loadYamlex } from '../../yaml/yamlex.ts';
import { isTrueArgument } from '../define.ts';

type Serializer = {
  readonly write: (value: Data, options: Dict) => string;
  readonly read?: (text: string, options: Dict) => Data;
};

const indentOf = (options: Dict): { indent?: number } => {
  const indent = options.get('indent');
  return typeof indent === 'number' ? { indent } : {};
};

const separatorsOf = (options: Dict): { separators?: [string, string] } => {
  const given = options.get('separators');
  if (!Array.isArray(given)) return {};
  const [item = ', ', key = ': '] = given.map(String);
  return { separators: [item, key] };
};

const writeYaml = (value: Data, options: Dict): string => {
  const style = options.get('default_flow_style') ?? null;
  const width = options.get('width');
  return dumpYaml(value, {
    ...indentOf(options),
    defaultFlowStyle: style === null ? null : isTrueArgument(style),
    sortKeys: isTrueArgument(options.get('sort_keys') ?? true),
    ...(typeof width === 'number' ? { width } : {}),
  }).replace(/\n(\.\.\.\n)?$/, '');
};

/** Converts keys to strings, as a conversion through JSON does. */
const plainKeys = (value: Data): Data => {
  if (Array.isArray(value)) return value.map(plainKeys);
  return isDict(value)
    ? new Map([...value].map(([key, item]) => [keyText(key), plainKeys(item)]))
    : value;
};

const keyValueOptions = (options: Dict): KeyValueOptions => {
  const quoting = options.get('quoting') ?? null;
  const [separator, lineEnding] = [options.get('separator'), options.get('line_ending')];
  return {
    ...(separator === undefined ? {} : { separator: String(separator) }),
    ...(lineEnding === undefined ? {} : { lineEnding: String(lineEnding) }),
    ...(quoting === null ? {} : { quoting: isTrueArgument(quoting) }),
  };
};

const serializers: Readonly<Record<string, Serializer>> = {
  json: {
    write: (value, options) =>
      dumpJson(value, {
        ...indentOf(options),
        ...separatorsOf(options),
        sortKeys: isTrueArgument(options.get('sort_keys') ?? false),
        ascii: isTrueArgument(options.get('ensure_ascii') ?? false),
      }),
    read: text => new JsonReader(text).read(),
  },
  yaml: { write: writeYaml, read: text => loadYaml(text, { file: 'slsutil.deserialize' }) },
  yamlex: { write: writeYaml, read: text => loadYamlex(text, { file: 'slsutil.deserialize' }) },
  toml: {
    write: value => {
      if (isDict(value)) return dumpToml(value);
      throw new TypeError('a TOML file is made of a dictionary');
    },
    read: text => readToml(text),
  },
  configparser: { write: value => dumpIni(value, textOf), read: parseIni },
  plist: { write: dumpPlist, read: parsePlist },
  python: { write: value => formatPython(plainKeys(value)) },
  keyvalue: {
    write: (value, options) => dumpKeyValues(value, keyValueOptions(options), textOf),
    read: (text, options) => parseKeyValues(text, keyValueOptions(options)),
  },
};

/** Serializes a value as Salt does; options are those of the underlying Python library. */
export const serialize = (format: string, value: Data, options: Dict): string => {
  const { write } = serializer(format);
  return attempt(format, () => write(value, options));
};

export const deserialize = (format: string, text: string, options: Dict): Data => {
  const { read } = serializer(format);
  if (read) return attempt(format, () => read(text, options));
  throw new TsaltError('arguments', `slsutil cannot read ${format}, only write it.`);
};

const serializer = (format: string): Serializer => {
  const found = Object.hasOwn(serializers, format) ? serializers[format] : undefined;
  if (found) return found;
  const known = Object.keys(serializers).join(', ');
  throw new TsaltError('arguments', `slsutil knows the serializers ${known}, not '${format}'.`);
};

const attempt = <T>(format: string, work: () => T): T => {
  try {
    return work();
  } catch (error) {
    if (error instanceof TsaltError || error instanceof RangeError || !(error instanceof Error))
      throw error;
    // The first line is the reason; the TOML library appends the source text.
    const [reason = ''] = error.message.split('\n');
    throw new TsaltError('arguments', `${format}: ${reason}.`);
  }
};
