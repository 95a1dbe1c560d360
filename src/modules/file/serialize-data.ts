import { dumpIni, parseIni } from '../../data/formats/ini.ts';
import { dumpJson } from '../../data/formats/json-dump.ts';
import {
  dumpKeyValues,
  type KeyValueOptions,
  parseKeyValues,
} from '../../data/formats/keyvalue.ts';
import { dumpMsgpack } from '../../data/formats/msgpack.ts';
import { dumpPlist } from '../../data/formats/plist-dump.ts';
import { parsePlist } from '../../data/formats/plist-read.ts';
import { dumpToml } from '../../data/formats/toml-dump.ts';
import { dumpYaml } from '../../data/formats/yaml-dump.ts';
import {
  type Data,
  type Dict,
  Float,
  isDict,
  toData,
  toDict,
  toPlain,
} from '../../data/values/value.ts';
import { isPlainDict } from '../../protocol/plain.ts';
import { salt } from '../_shared/states/call.ts';
import { plainStr } from '../_shared/text/python-text.ts';
import { type Plain, type PlainDict, SaltInvocationError } from '../api.ts';

export type Serializer = {
  /** The supported `serializer_opts`. */
  readonly options: readonly string[];
  /** Returns text, to which a line end is added, or the bytes of the whole file. */
  readonly write: (data: Plain, options: PlainDict) => string | Uint8Array | Promise<string>;
  /** The supported `deserializer_opts`. */
  readonly readOptions?: readonly string[];
  readonly read?: (text: string, options: PlainDict) => Plain | Promise<Plain>;
};

/** Returns the serializer for a format of `file.serialize`, by name. */
export const serializerFor = (name: string): Serializer | undefined =>
  Object.hasOwn(serializers, name) ? serializers[name] : undefined;

const yamlOptions = [
  'default_flow_style',
  'indent',
  'width',
  'sort_keys',
  'explicit_start',
  'allow_unicode',
];

const writeYaml = (data: Plain, options: PlainDict): string => {
  const { default_flow_style = false, indent, width, sort_keys = true } = options;
  return dumpYaml(toData(data), {
    defaultFlowStyle: default_flow_style === null ? null : default_flow_style === true,
    ...(typeof indent === 'number' && { indent }),
    ...(typeof width === 'number' && { width }),
    sortKeys: sort_keys === false ? false : 'plain',
    explicitStart: options.explicit_start === true,
    escapes: options.allow_unicode === true ? undefined : 'ascii',
  })
    .replace(/\n$/, '')
    .replace(/\n\.\.\.$/, '');
};

/** Read on the control node, which has the whole of these formats. */
const readThere =
  (format: string) =>
  (text: string): Promise<Plain> =>
    salt('slsutil.deserialize')(format, text);

const serializers: Readonly<Record<string, Serializer>> = {
  json: {
    options: ['indent', 'sort_keys', 'ensure_ascii', 'separators'],
    write: (data, { indent = 2, sort_keys = true, ensure_ascii = false, separators }) =>
      dumpJson(toData(data), {
        ...(typeof indent === 'number' && { indent }),
        separators: Array.isArray(separators)
          ? [String(separators[0]), String(separators[1])]
          : [',', ': '],
        sortKeys: sort_keys === true,
        ascii: ensure_ascii === true,
      }),
    read: text => JSON.parse(text) as Plain,
  },
  yaml: { options: yamlOptions, write: writeYaml, read: readThere('yaml') },
  yamlex: {
    options: yamlOptions.filter(option => option !== 'sort_keys'),
    write: (data, options) =>
      writeYaml(data, { default_flow_style: null, ...options, sort_keys: false }),
    read: readThere('yamlex'),
  },
  python: { options: [], write: data => salt('slsutil.serialize')('python', data) },
  configparser: {
    options: [],
    write: data => attempt(() => dumpIni(toData(data), value => plainStr(toPlain(value)))),
    read: text => attempt(() => exact(parseIni(text))),
  },
  toml: {
    options: [],
    write: data => dumpToml(dictOf(data, 'toml')),
    read: text => {
      refuseLossy(text);
      return readThere('toml')(text);
    },
  },
  plist: {
    options: ['fmt'],
    write: (data, { fmt = 'FMT_XML' }) => {
      if (fmt !== 'FMT_XML')
        throw new SaltInvocationError(
          `serializer_opts fmt ${plainStr(fmt)} is not supported for plist; there is: FMT_XML`,
        );
      return Buffer.from(attempt(() => dumpPlist(toData(data))));
    },
    read: text => attempt(() => exact(parsePlist(text))),
  },
  keyvalue: {
    options: ['separator', 'quoting', 'line_ending'],
    write: (data, options) =>
      attempt(() =>
        dumpKeyValues(toData(data), keyValueOptions(options), item => plainStr(toPlain(item))),
      ),
    readOptions: ['separator', 'quoting'],
    read: (text, options) => attempt(() => exact(parseKeyValues(text, keyValueOptions(options)))),
  },
  msgpack: { options: [], write: data => attempt(() => dumpMsgpack(toData(data))) },
};

const keyValueOptions = ({
  separator = '=',
  quoting = null,
  line_ending = '\n',
}: PlainDict): KeyValueOptions => ({
  separator: String(separator),
  ...(quoting === null ? {} : { quoting: quoting === true }),
  lineEnding: String(line_ending),
});

const dictOf = (data: Plain, format: string): Dict => {
  if (isPlainDict(data)) return toDict(data);
  throw new SaltInvocationError(`a ${format} file is made of a dictionary`);
};

/** Refuses numbers that would be read back as another type. */
const exact = (data: Data): Plain => {
  const check = (value: Data): void => {
    if (Array.isArray(value)) value.forEach(check);
    else if (isDict(value)) [...value.values()].forEach(check);
    else if (typeof value === 'bigint' || (value instanceof Float && Number.isInteger(value.value)))
      throw new TypeError(`the number ${String(value)} cannot be stored without loss`);
  };
  check(data);
  return toPlain(data);
};

/** Data from the control node cannot contain dates, or floats without a fraction. */
const refuseLossy = (text: string): void => {
  const bare = text
    .replace(/"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\.|[^"\\\n])*"|'[^'\n]*'/g, '""')
    .replace(/#.*/g, '');
  const lossy =
    /(?<=[=[,]\s*)(?:\d{4}-\d\d-\d\d|\d\d:\d\d|[+-]?(?:inf|nan)|[+-]?\d[\d_]*(?:\.0+\b(?!\d)|[.\d]*e))[^,\]\n]*/i;
  const found = lossy.exec(bare)?.[0];
  if (found)
    throw new SaltInvocationError(`the value ${found.trim()} cannot be stored without loss`);
};

/** Reports data that cannot be serialized as an error in the function's arguments. */
const attempt = <T>(work: () => T): T => {
  try {
    return work();
  } catch (error) {
    if (error instanceof TypeError) throw new SaltInvocationError(error.message);
    throw error;
  }
};
