import type { FunctionMeta, FunctionSignature, ModuleMeta, Param } from '../../protocol/meta.ts';
import type { Plain, PlainDict } from '../../protocol/plain.ts';
import { type ValueType, valueType } from './check-type.ts';
import { functionsOf, isFunctionSelected, unknownText } from './module-docs.ts';

/** The dialect of all schemas. */
export const schemaDialect = 'https://json-schema.org/draft/2020-12/schema';

/**
 * Returns a parameter as a property: what `checkType` accepts for it, its default and
 * documentation.
 */
export const paramSchema = (param: Param): PlainDict => {
  const { type, optional, default: value, doc } = param;
  const found = type === undefined ? {} : schemaOf(valueType(type));
  const isLiteral = value !== undefined && value !== null && !isCode(value);
  return {
    ...withOthers(found, optional === true, optional === true && !value),
    ...(isLiteral ? { default: value } : {}),
    ...(doc === undefined ? {} : { description: doc }),
  };
};

/** The parameters of a function by name; those behind `...rest` are a list of that name. */
export const parameterSchemas = (signature: FunctionSignature): Record<string, PlainDict> => {
  const { positional, keywords = [], rest } = signature;
  const named = [...positional, ...keywords].map(param => [param.name, paramSchema(param)]);
  return Object.fromEntries([
    ...named,
    ...(rest ? [[rest.name, { type: 'array', ...docOf(rest.doc) }]] : []),
  ]) as Record<string, PlainDict>;
};

/** Whether a function accepts arguments that it does not declare. */
export const takesOthers = ({ signature, unknown }: FunctionMeta): boolean =>
  signature.anyKeyword === true || unknown !== undefined;

/** `sys.state_schema`: a JSON Schema for the arguments of each state that a pattern selects. */
export const stateSchemas = (modules: readonly ModuleMeta[], wanted: string): PlainDict[] =>
  [...functionsOf(modules, 'state')]
    .filter(([name]) => isFunctionSelected(wanted === '' ? [] : [wanted], name))
    .map(([name, fun]) => functionSchema(name, fun));

/** The JSON Schema of a state function's arguments as one object, for `sys.state_schema`. */
const functionSchema = (name: string, fun: FunctionMeta): PlainDict => {
  const { signature } = fun;
  const properties = parameterSchemas(signature);
  const required = [...signature.positional, ...(signature.keywords ?? [])]
    .filter(param => param.optional !== true && param.name !== 'name')
    .map(param => param.name);
  return {
    $schema: schemaDialect,
    title: name,
    description: functionDoc(name, fun),
    type: 'object',
    properties,
    ...(required.length > 0 ? { required } : {}),
    'x-ordering': Object.keys(properties),
    additionalProperties: takesOthers(fun),
  };
};

/** Returns the documentation of a function for editors, with its treatment of unknown arguments. */
export const functionDoc = (name: string, fun: FunctionMeta): string =>
  [fun.doc, unknownText(fun)].filter(text => text !== undefined).join('\n\n') || name;

const docOf = (doc: string | undefined): PlainDict =>
  doc === undefined ? {} : { description: doc };

const isCode = (value: Exclude<Param['default'], undefined>): value is { readonly code: string } =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  typeof value.code === 'string';

const slot: PlainDict = { type: 'string', pattern: '^__slot__:' };

/** Adds the values that every argument accepts besides its type: null, empty ones, a slot. */
const withOthers = (schema: PlainDict, isNullable: boolean, isEmptyAllowed: boolean): PlainDict => {
  if (Object.keys(schema).length === 0) return schema;
  const types = typesOf(schema);
  const others: PlainDict[] = [];
  if (isNullable) others.push({ type: 'null' });
  if (isEmptyAllowed && !types.includes('array')) others.push({ type: 'array', maxItems: 0 });
  if (isEmptyAllowed && !types.includes('object'))
    others.push({ type: 'object', maxProperties: 0 });
  if (!types.includes('string') || schema.pattern !== undefined) others.push(slot);
  return either([schema, ...others]);
};

/** The types of values that a schema accepts. */
const typesOf = ({ type, anyOf, enum: values }: PlainDict): Plain[] => {
  if (Array.isArray(anyOf)) return (anyOf as PlainDict[]).flatMap(typesOf);
  if (Array.isArray(values)) return [];
  return Array.isArray(type) ? type : type === undefined ? [] : [type];
};

/** The schema of all values that fit a type or are converted to it. */
const schemaOf = (type: ValueType): PlainDict => {
  switch (type.kind) {
    case 'string':
      return { type: ['string', 'number', 'boolean'] };
    case 'number':
      return {
        type: ['number', 'string'],
        pattern: '^\\s*[+-]?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([eE][+-]?[0-9]+)?\\s*$',
      };
    case 'boolean':
      return {
        type: ['boolean', 'string', 'integer'],
        pattern:
          '^([Tt][Rr][Uu][Ee]|[Yy][Ee][Ss]|[Oo][Nn]|[Oo][Ff][Ff]|[Ff][Aa][Ll][Ss][Ee]|[Nn][Oo]|[01])$',
        minimum: 0,
        maximum: 1,
      };
    case 'null':
    case 'undefined':
      return { type: 'null' };
    case 'dict':
      return { type: ['object', 'array'], items: { type: 'object' } };
    case 'literal':
      return literalSchema([type.value]);
    case 'list':
      return listSchema(schemaOf(type.of));
    case 'union':
      return unionSchema(type.of);
    default:
      return {};
  }
};

/** A number or a flag is accepted as text, too. */
const literalSchema = (values: readonly (string | number | boolean)[]): PlainDict => {
  const texts = values.flatMap(value => (typeof value === 'string' ? [] : [String(value)]));
  return { enum: [...new Set([...values, ...texts])] };
};

/** Accepts a list, or a single value in its place. */
const listSchema = (item: PlainDict): PlainDict => {
  if (Object.keys(item).length === 0) return { not: { type: 'null' } };
  return either([{ type: 'array', items: item }, item]);
};

const unionSchema = (types: readonly ValueType[]): PlainDict => {
  const literals = types.flatMap(type => (type.kind === 'literal' ? [type.value] : []));
  const others = types.filter(({ kind }) => kind !== 'literal').map(schemaOf);
  if (others.some(schema => Object.keys(schema).length === 0)) return {};
  return either([...(literals.length > 0 ? [literalSchema(literals)] : []), ...others]);
};

/** Any of several schemas; those that only name types become one. */
const either = (schemas: readonly PlainDict[]): PlainDict => {
  const flat = schemas.flatMap(schema =>
    Array.isArray(schema.anyOf) ? (schema.anyOf as PlainDict[]) : [schema],
  );
  const isPlain = (schema: PlainDict): boolean => Object.keys(schema).join() === 'type';
  const types = [...new Set(flat.filter(isPlain).flatMap(typesOf))];
  const rest = flat.filter(schema => !isPlain(schema));
  const all = [...rest, ...(types.length > 0 ? [{ type: types }] : [])];
  const seen = new Map(all.map(schema => [JSON.stringify(schema), schema]));
  const [only, ...more] = seen.values();
  return more.length === 0 ? (only ?? {}) : { anyOf: [...seen.values()] };
};
