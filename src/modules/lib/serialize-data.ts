import { dumpIni, parseIni } from '../../data/ini.ts';
import { dumpJson } from '../../data/json-dump.ts';
import { dumpPlist } from '../../data/plist-dump.ts';
import { dumpToml } from '../../data/toml-dump.ts';
import { type Dict, toData, toDict, toPlain, toPlainDict } from '../../data/value.ts';
import { dumpYaml } from '../../data/yaml-dump.ts';
import { isPlainDict } from '../../protocol/plain.ts';
import { type Plain, type PlainDict, SaltInvocationError } from '../api.ts';
import { pyRepr, pyStr } from './python-text.ts';
import { parseSimpleYaml } from './simple-yaml.ts';

export type Serializer = {
  readonly write: (data: Plain, options: PlainDict) => string;
  readonly read?: (text: string) => Plain;
};

/** The formats of `file.serialize`, by name. */
export const serializerFor = (name: string): Serializer | undefined =>
  Object.hasOwn(serializers, name) ? serializers[name] : undefined;

const serializers: Readonly<Record<string, Serializer>> = {
  json: {
    write: (data, { indent = 2, sort_keys = true, ensure_ascii = true }) =>
      dumpJson(toData(data), {
        ...(typeof indent === 'number' && { indent }),
        sortKeys: sort_keys === true,
        ascii: ensure_ascii !== false,
      }),
    read: text => JSON.parse(text) as Plain,
  },
  yaml: {
    write: (data, { default_flow_style = false, indent }) =>
      dumpYaml(toData(data), {
        defaultFlowStyle: default_flow_style === null ? null : default_flow_style === true,
        ...(typeof indent === 'number' && { indent }),
      })
        .replace(/\n$/, '')
        .replace(/\n\.\.\.$/, ''),
    read: text => parseSimpleYaml(text),
  },
  python: { write: data => pyRepr(data) },
  configparser: {
    write: data =>
      attempt(() => dumpIni(toData(data), value => pyStr(toPlain(value)))).slice(0, -1),
    read: text => attempt(() => toPlainDict(parseIni(text))),
  },
  toml: { write: data => dumpToml(dictOf(data, 'toml')).replace(/\n+$/, '') },
  plist: { write: data => attempt(() => dumpPlist(toData(data))).slice(0, -1) },
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
