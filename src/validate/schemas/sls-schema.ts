import {
  functionDoc,
  parameterSchemas,
  schemaDialect,
  takesOthers,
} from '../../data/signatures/json-schema.ts';
import { moduleName, showDefault } from '../../data/signatures/module-docs.ts';
import type { FunctionMeta, ModuleMeta } from '../../protocol/meta.ts';
import type { Plain, PlainDict } from '../../protocol/plain.ts';
import { requisiteInKeywords, requisiteKeywords } from '../../protocol/state-keywords.ts';
import { commonSchemas, requisiteSchema } from './common-arguments.ts';

/**
 * The JSON Schema of rendered SLS files: IDs, state functions with their arguments, requisites,
 * includes, extends and excludes.
 *
 * @param modules the built-in modules and the user's own, as an artifact lists them
 */
export const slsSchema = (modules: readonly ModuleMeta[]): PlainDict => {
  const functions = stateFunctions(modules);
  const isOpen = modules.some(
    ({ kind, builtin, anyName, dynamic, broken }) =>
      kind === 'state' && !builtin && (anyName || dynamic || broken !== undefined),
  );
  const names = [...functions.keys()].sort();
  return {
    $schema: schemaDialect,
    title: 'SLS',
    description: 'States of tsalt-ssh by ID.',
    type: ['object', 'null'],
    properties: {
      include: { $ref: '#/$defs/include' },
      exclude: { $ref: '#/$defs/exclude' },
      tags: {
        anyOf: [
          { $ref: '#/$defs/tags' },
          { $ref: '#/$defs/body' },
          isOpen ? { type: 'string', pattern: '\\.' } : { enum: names },
        ],
      },
      extend: {
        description: 'Changes states of included SLS, by ID.',
        type: 'object',
        additionalProperties: { $ref: '#/$defs/body' },
      },
    },
    patternProperties: { '^__': {} },
    additionalProperties: {
      anyOf: [
        isOpen ? { type: 'string', pattern: '\\.' } : { enum: names },
        { $ref: '#/$defs/body' },
      ],
    },
    $defs: {
      include: {
        description: 'SLS whose states belong to this one, as `web.nginx` or `.nginx`.',
        type: 'array',
        items: { type: ['string', 'object'] },
      },
      tags: {
        description: 'Tags of all states of the SLS, for `--tags` and `--skip-tags`.',
        anyOf: [
          { type: 'string', pattern: '^[^.]*$' },
          { type: 'array', items: { type: ['string', 'number'] } },
        ],
      },
      exclude: {
        description: 'SLS or IDs that are left out.',
        type: 'array',
        items: {
          anyOf: [
            { type: 'string' },
            { type: 'object', properties: { sls: {}, id: {} }, additionalProperties: false },
          ],
        },
      },
      requisite: requisiteSchema,
      common: { properties: commonSchemas },
      commonNames: { enum: Object.keys(commonSchemas) },
      body: body(functions, isOpen),
      ...Object.fromEntries(names.map(name => [name, argumentsOf(name, functions.get(name))])),
    },
  };
};

/** By full name; undefined where several modules have it, so that its arguments are not known. */
type Functions = ReadonlyMap<string, FunctionMeta | undefined>;

const stateFunctions = (modules: readonly ModuleMeta[]): Functions => {
  const functions = new Map<string, FunctionMeta | undefined>();
  for (const module of modules) {
    if (module.kind !== 'state' || module.broken !== undefined) continue;
    for (const called of new Set([moduleName(module), ...(module.virtual ?? [])]))
      for (const fun of module.functions) {
        const name = `${called}.${fun.name}`;
        functions.set(name, functions.has(name) ? undefined : fun);
      }
  }
  return functions;
};

const body = (functions: Functions, isOpen: boolean): PlainDict => ({
  type: 'object',
  properties: {
    ...Object.fromEntries(
      [...functions].map(([name, fun]) => [
        name,
        {
          ...(fun ? { description: functionDoc(name, fun) } : {}),
          type: 'array',
          items: { $ref: `#/$defs/${name}` },
        },
      ]),
    ),
    ...modulesOf(functions),
  },
  patternProperties: { '^__': {} },
  additionalProperties: isOpen ? { type: 'array' } : false,
});

/** The long form: the module as the key, its function as one of the list's items. */
const modulesOf = (functions: Functions): PlainDict => {
  const byModule = new Map<string, string[]>();
  for (const name of functions.keys()) {
    const dot = name.lastIndexOf('.');
    const module = name.slice(0, dot);
    byModule.set(module, [...(byModule.get(module) ?? []), name.slice(dot + 1)]);
  }
  return Object.fromEntries(
    [...byModule].map(([module, names]) => [
      module,
      {
        type: 'array',
        items: { anyOf: [{ enum: names }, { type: 'object' }] },
        allOf: names.map(name => ({
          if: { contains: { const: name } },
          // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
          then: { items: { anyOf: [{ const: name }, { $ref: `#/$defs/${module}.${name}` }] } },
        })),
      },
    ]),
  );
};

/** One item of a state's list: mostly one argument. */
const argumentsOf = (name: string, fun: FunctionMeta | undefined): PlainDict => {
  if (!fun) return { type: 'object', allOf: [{ $ref: '#/$defs/common' }] };
  const own = Object.fromEntries(
    Object.entries(parameterSchemas(fun.signature)).filter(([key]) => !reserved.has(key)),
  );
  const named = withDefaults(own, fun);
  return {
    type: 'object',
    title: name,
    allOf: [{ $ref: '#/$defs/common' }],
    properties: named,
    ...(takesOthers(fun)
      ? {}
      : {
          propertyNames: {
            anyOf: [
              { $ref: '#/$defs/commonNames' },
              ...(Object.keys(named).length > 0 ? [{ enum: Object.keys(named) }] : []),
              { pattern: '^__' },
            ],
          },
        }),
  };
};

const reserved: ReadonlySet<string> = new Set([
  'names',
  ...requisiteKeywords,
  ...requisiteInKeywords,
]);

/** Defaults that are code have no value: the documentation names them. */
const withDefaults = (own: Record<string, PlainDict>, fun: FunctionMeta): PlainDict => {
  const { positional, keywords = [] } = fun.signature;
  const codes = [...positional, ...keywords].filter(
    ({ default: value }) =>
      typeof value === 'object' && value !== null && !Array.isArray(value) && 'code' in value,
  );
  const found: Record<string, Plain> = { ...own };
  for (const { name, default: value, doc } of codes)
    if (Object.hasOwn(own, name) && value !== undefined && value !== null) {
      const text = [doc, `Default: ${showDefault(value)}`].filter(Boolean).join('\n\n');
      found[name] = { ...own[name], description: text };
    }
  return found;
};
