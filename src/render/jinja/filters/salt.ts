import type { Data } from '../../../data/values/value.ts';
import { TsaltError } from '../../../protocol/error.ts';
import { callFilter } from '../../filters/filter.ts';
import { saltFilters as shared } from '../../filters/filters.ts';
import { JinjaError } from '../jinja-error.ts';
import { loadData } from '../run/load-data.ts';
import { Module } from '../run/program.ts';
import type { Operation, Operations } from '../run/run.ts';
import { textOf } from '../values/text.ts';
import { toDataDict, toYamlData, valueToData } from '../values/to-data.ts';
import { Thing, type Value } from '../values/value.ts';

/** Adapts a filter that all template languages share to Python's values. */
const bridged =
  (name: string, dataOf: (value: Value) => Data = valueToData): Operation =>
  (value, { list, named }) => {
    const filter = shared[name];
    if (!filter) throw new JinjaError('syntax', `No filter named '${name}'.`);
    try {
      return callFilter(name, filter, dataOf(value), list.map(valueToData), toDataDict(named));
    } catch (error) {
      if (error instanceof TypeError || error instanceof TsaltError)
        throw new JinjaError('error', error.message, { cause: error });
      throw error;
    }
  };

/** Filters for which Jinja's own version is used. */
const jinjas = new Set(['indent']);

const text = (value: Value): string => (value instanceof Thing ? textOf(value) : (value as string));

const loading =
  (format: 'yaml' | 'json'): Operation =>
  (value, _args, run) => {
    const given = value instanceof Module ? value.text() : value;
    return typeof given === 'string' ? loadData(format, given, run) : unloadable(format, given);
  };

const unloadable = (format: string, value: Value): never => {
  throw new JinjaError('syntax', `Unable to load ${format} from ${textOf(value)}`);
};

/** Salt's filters. */
export const jinjaSaltFilters: Operations = new Map<string, Operation>([
  ...Object.keys(shared)
    .filter(name => !jinjas.has(name))
    .map(name => [name, bridged(name)] as const),
  ...['yaml', 'dict_to_sls_yaml_params'].map(name => [name, bridged(name, toYamlData)] as const),
  ['load_yaml', loading('yaml')],
  ['load_json', loading('json')],
  ['load_text', text],
]);
