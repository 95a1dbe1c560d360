import { isOrdered } from '../../data/values/ordered.ts';
import type { Dict } from '../../data/values/value.ts';
import { after, type Eventual } from './after.ts';
import { raise } from './jinja-error.ts';
import { dictMethods } from './methods/dict.ts';
import { listMethods, setMethods, tupleMethods } from './methods/list.ts';
import type { Method } from './methods/method.ts';
import { bytesMethods, numberMethods } from './methods/scalars.ts';
import { textMethods } from './methods/text.ts';
import type { Run } from './run/run.ts';
import { comparisonKey, lookUp } from './values/compare.ts';
import { type FieldAccess, formatText } from './values/format.ts';
import { itemAt } from './values/iterate.ts';
import { isNumeric } from './values/number.ts';
import { orElse } from './values/or-else.ts';
import { quoted, reprOf, textOf, typeName } from './values/text.ts';
import { Bytes, PySet } from './values/things.ts';
import { Undefined } from './values/undefined.ts';
import {
  type Args,
  Callable,
  isMap,
  isPillar,
  isTuple,
  NamedTuple,
  Thing,
  tuple,
  type Value,
  type ValueDict,
} from './values/value.ts';

/** `value.name`: a method or attribute, or else a dict's value for that key. */
export const attributeOf = (value: Value, name: string, run: Run): Value =>
  orElse(memberOf(value, name), () =>
    orElse(keyed(value, name), () =>
      run.undefined(`${quoted(objectName(value))} has no attribute ${quoted(name)}`),
    ),
  );

const keyed = (value: Value, name: string): Value | undefined =>
  isMap(value) ? value.get(name) : value instanceof Thing ? value.item(name) : undefined;

/** `value[key]`: an item, or else a method or attribute of that name. */
export const itemOf = (value: Value, key: Value, run: Run): Value => {
  const found = isMap(value)
    ? itemInDict(value, key)
    : value instanceof Thing
      ? value.item(key)
      : itemAt(value, key);
  if (found !== undefined) return found;
  if (key instanceof Undefined) return key.raise();
  if (typeof key !== 'string')
    return run.undefined(`${objectName(value)} has no element ${reprOf(key)}`);
  return orElse(memberOf(value, key), () =>
    run.undefined(`${quoted(objectName(value))} has no attribute ${quoted(key)}`),
  );
};

const itemInDict = (dict: ValueDict, key: Value): Value | undefined => {
  if (key instanceof Undefined) return key.raise();
  const isHashable = !Array.isArray(key) || isTuple(key);
  return isHashable && !isMap(key) && !(key instanceof Thing)
    ? lookUp(dict, comparisonKey(key))
    : undefined;
};

const objectName = (value: Value): string => {
  if (value === null) return 'None';
  const name = isMap(value) && isOrdered(value as Dict) ? 'OrderedDict' : typeName(value);
  const home = isPillar(value) ? 'salt.utils.context' : homes.get(name);
  const type = isPillar(value) ? 'NamespacedDictWrapper' : name;
  return home === undefined ? `${type} object` : `${home}.${type} object`;
};

/** The Python modules of types that Jinja shows with their full name. */
const homes: ReadonlyMap<string, string> = new Map([
  ['OrderedDict', 'collections'],
  ['Namespace', 'jinja2.utils'],
  ['Cycler', 'jinja2.utils'],
  ['Macro', 'jinja2.runtime'],
  ['LoopContext', 'jinja2.runtime'],
  ['TemplateReference', 'jinja2.runtime'],
  ['LoadedFunc', 'salt.loader.lazy'],
]);

/** Returns a method or attribute, if it exists. JavaScript properties are not reachable. */
export const memberOf = (value: Value, name: string): Value | undefined => {
  const method = methodOf(value, name);
  if (method) return new Callable(name, (args, run) => callMethod(name, method, value, args, run));
  if (value instanceof NamedTuple) return value.part(name);
  return value instanceof Thing ? value.attribute(name) : undefined;
};

/** Calls a method of a built-in type, and tracks the strings that it makes from tainted ones. */
export const callMethod = (
  name: string,
  method: Method<never>,
  value: Value,
  args: Args,
  run: Run,
): Eventual<Value> => {
  const result = method(value as never, args, run);
  const { tracking } = run;
  // Lists and dictionaries only return values that they contain.
  if (!tracking || (typeof value !== 'string' && !(value instanceof Bytes))) return result;
  return after(result, made => {
    tracking.made(name, value, args, made);
    return made;
  });
};

/** Returns a method of a built-in type. */
export const methodOf = (value: Value, name: string): Method<never> | undefined => {
  if (typeof value === 'string') return textMethods.get(name) ?? formatMethods.get(name);
  if (isMap(value)) return dictMethods.get(name);
  if (Array.isArray(value)) return isTuple(value) ? tupleMethods.get(name) : listMethods.get(name);
  if (value instanceof PySet) return setMethods.get(name);
  if (value instanceof Bytes) return bytesMethods.get(name);
  return isNumeric(value) ? numberMethods.get(name) : undefined;
};

const fieldAccess = (run: Run): FieldAccess => ({
  attribute: (value, name) => attributeOf(value, name, run),
  item: (value, key) => itemOf(value, key, run),
});

const formatted = (text: string, args: Args, run: Run): string => {
  const access = fieldAccess(run);
  const result = formatText(text, args, access);
  run.tracking?.formatted([text, args.list, args.named], result, onPiece =>
    formatText(text, args, access, onPiece),
  );
  return result;
};

const formatMethods: ReadonlyMap<string, Method<string>> = new Map<string, Method<string>>([
  ['format', (text, args, run) => formatted(text, args, run)],
  [
    'format_map',
    (text, { list: [values = null] }, run) => {
      if (!isMap(values)) return raise('format_map() takes a dict');
      const named = new Map(Array.from(values, ([key, value]) => [textOf(key), value]));
      return formatted(text, { list: [], named }, run);
    },
  ],
]);

/**
 * Returns a function that reads an attribute path, as for `|map(attribute='a.0.b')`.
 *
 * @param otherwise returned for missing values.
 */
export const pathGetter = (path: Value, run: Run, otherwise?: Value): ((value: Value) => Value) => {
  if (path === null) return value => value;
  const parts: Value[] =
    typeof path === 'string'
      ? path.split('.').map(part => (/^\d+$/.test(part) ? Number(part) : part))
      : [path];
  return value => {
    let at = value;
    for (const part of parts) {
      at = itemOf(at, part, run);
      if (at instanceof Undefined && otherwise !== undefined) at = otherwise;
    }
    return at;
  };
};

/** Reads several paths, `a,b`, and returns their values as a tuple. */
export const pathsGetter = (paths: Value, run: Run): ((value: Value) => Value) => {
  if (typeof paths !== 'string' || !paths.includes(',')) return pathGetter(paths, run);
  const getters = paths.split(',').map(path => pathGetter(path, run));
  return value => tuple(getters.map(get => get(value)));
};
