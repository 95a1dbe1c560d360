import { dumpIni, parseIni } from '../../data/ini.ts';
import { compareText, dumpJson } from '../../data/json-dump.ts';
import { dumpPlist } from '../../data/plist-dump.ts';
import { dumpToml } from '../../data/toml-dump.ts';
import { type Dict, toData, toDict, toPlain, toPlainDict } from '../../data/value.ts';
import { dumpYaml } from '../../data/yaml-dump.ts';
import { isPlainDict } from '../../protocol/plain.ts';
import { type Plain, type PlainDict, SaltInvocationError } from '../api.ts';
import { pyRepr, pyStr } from './python-text.ts';
import { parseSimpleYaml } from './simple-yaml.ts';

export type Serializer = {
  /** The `serializer_opts` there are. */
  readonly options: readonly string[];
  readonly write: (data: Plain, options: PlainDict) => string;
  readonly read?: (text: string) => Plain;
};

/** The formats of `file.serialize`, by name. */
export const serializerFor = (name: string): Serializer | undefined =>
  Object.hasOwn(serializers, name) ? serializers[name] : undefined;

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
  yaml: {
    options: [
      'default_flow_style',
      'indent',
      'width',
      'sort_keys',
      'explicit_start',
      'allow_unicode',
    ],
    write: (data, options) => {
      const { default_flow_style = false, indent, width, sort_keys = true } = options;
      return dumpYaml(toData(data), {
        defaultFlowStyle: default_flow_style === null ? null : default_flow_style === true,
        ...(typeof indent === 'number' && { indent }),
        ...(typeof width === 'number' && { width }),
        sortKeys: sort_keys === false ? false : 'plain',
        explicitStart: options.explicit_start === true,
        ascii: options.allow_unicode !== true,
      })
        .replace(/\n$/, '')
        .replace(/\n\.\.\.$/, '');
    },
    read: text => parseSimpleYaml(text),
  },
  python: { options: [], write: data => pyRepr(sortedKeys(data)) },
  configparser: {
    options: [],
    write: data => attempt(() => dumpIni(toData(data), value => pyStr(toPlain(value)))),
    read: text => attempt(() => toPlainDict(parseIni(text))),
  },
  toml: { options: [], write: data => dumpToml(dictOf(data, 'toml')) },
  plist: { options: ['fmt'], write: data => attempt(() => dumpPlist(toData(data))).slice(0, -1) },
};

/** Keys in order on all levels, as `pprint` shows a dict. */
const sortedKeys = (data: Plain): Plain => {
  if (Array.isArray(data)) return data.map(sortedKeys);
  if (!isPlainDict(data)) return data;
  const keys = Object.keys(data).sort(compareText);
  return Object.fromEntries(keys.map(key => [key, sortedKeys(data[key] ?? null)]));
};

const dictOf = (data: Plain, format: string): Dict => {
  if (isPlainDict(data)) return toDict(data);
  throw new SaltInvocationError(`a ${format} file is made of a dictionary`);
};

/** What the data cannot be, as the fault of who gave it. */
const attempt = <T>(work: () => T): T => {
  try {
    return work();
  } catch (error) {
    if (error instanceof TypeError) throw new SaltInvocationError(error.message);
    throw error;
  }
};
