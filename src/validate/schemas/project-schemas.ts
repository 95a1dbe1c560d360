import { composed, hostDefaults, keys, otherSaltOptions } from '../../config/keys.ts';
import { configDefaults } from '../../config/load.ts';
import { schemaDialect } from '../../data/signatures/json-schema.ts';
import type { ValueKind } from '../../data/values/read.ts';
import type { Plain, PlainDict } from '../../protocol/plain.ts';
import { rosterKinds, secretRosterKeys } from '../../roster/keys.ts';
import { configDocs, rosterDocs } from './key-docs.ts';

const folders: PlainDict = {
  type: ['object', 'null'],
  additionalProperties: { type: ['string', 'array'], items: { type: 'string' } },
};

const flagOr = (...types: string[]): PlainDict => ({ type: ['boolean', 'null', ...types] });

/** Options of several forms, which `config/load.ts` reads itself. */
const ownForms: Readonly<Record<string, PlainDict>> = {
  file_roots: folders,
  pillar_roots: folders,
  rosters: {
    type: 'array',
    items: {
      anyOf: [
        { type: 'string' },
        {
          type: 'object',
          minProperties: 1,
          maxProperties: 1,
          additionalProperties: { type: 'string' },
        },
      ],
    },
  },
  roster_defaults: { $ref: '#/$defs/host' },
  nodegroups: {
    type: ['object', 'null'],
    additionalProperties: { type: ['string', 'array'] },
  },
  ssh_list_nodegroups: {
    type: ['object', 'null'],
    additionalProperties: { type: ['string', 'array'] },
  },
  ext_pillar: { type: 'array', items: { type: 'object' } },
  state_aggregate: flagOr('array'),
  state_tabular: flagOr('string'),
};

const optionSchema = (key: string, kind: ValueKind<unknown>, kept: PlainDict): PlainDict => {
  const value = (kept as Record<string, Plain>)[key];
  const doc = configDocs[key];
  return {
    ...(ownForms[key] ?? kind.schema),
    ...(value === undefined ? {} : { default: value }),
    ...(doc === undefined ? {} : { description: doc }),
  };
};

/** The JSON Schema of `tsalt.yaml`. Options that tsalt-ssh does not know configure modules. */
export const configSchema = (): PlainDict => {
  const defaults = configDefaults as unknown as PlainDict;
  const read = Object.entries({ ...composed, ...keys }).map(([key, kind]): [string, PlainDict] => [
    key,
    optionSchema(key, kind, defaults),
  ]);
  const hosts = Object.entries(hostDefaults)
    .filter(([option]) => option !== 'ssh_timeout')
    .map(([option, key]): [string, PlainDict] => [
      option,
      {
        ...hostSchemas()[key],
        description: `Default of \`${key}\` in the roster. ${rosterDocs[key] ?? ''}`.trim(),
      },
    ]);
  const kept = otherSaltOptions.map((name): [string, PlainDict] => [name, docOf(configDocs[name])]);
  return {
    $schema: schemaDialect,
    title: 'tsalt.yaml',
    description: 'Configuration of tsalt-ssh. Options of modules have a dot in their names.',
    type: ['object', 'null'],
    properties: Object.fromEntries([...kept, ...hosts, ...read]),
    $defs: { host: hostSchema(), secret },
  };
};

/** A value that a template makes, such as `port: "{{ port }}"`. */
const templateValue: PlainDict = { type: 'string', pattern: '\\{[{%]' };

/** The JSON Schema of roster files: hosts by ID. Values may be made by a template. */
export const rosterSchema = (): PlainDict => ({
  $schema: schemaDialect,
  title: 'Roster',
  description: 'Hosts of tsalt-ssh by ID.',
  type: ['object', 'null'],
  additionalProperties: {
    anyOf: [{ type: 'string', description: "The host's address." }, { $ref: '#/$defs/host' }],
  },
  $defs: {
    host: hostSchema(({ description, ...value }) => ({
      ...(description === undefined ? {} : { description }),
      anyOf: [value, templateValue],
    })),
    secret,
  },
});

const secret: PlainDict = {
  anyOf: [
    { type: ['string', 'number'] },
    {
      type: 'object',
      minProperties: 1,
      maxProperties: 1,
      properties: {
        env: { description: 'The variable of the environment that has the secret.' },
        file: { description: 'The file that has the secret.' },
        fd: { description: 'The number of the file descriptor that the secret is read from.' },
        command: { description: 'The program that prints the secret, and its arguments.' },
        prompt: { description: 'true: asks at the terminal.' },
      },
      additionalProperties: false,
    },
  ],
};

const hostSchemas = (): Record<string, PlainDict> => ({
  ...Object.fromEntries(
    Object.entries(rosterKinds).map(([key, kind]) => [
      key,
      { ...kind.schema, description: rosterDocs[key] ?? kind.expected },
    ]),
  ),
  ...Object.fromEntries(
    secretRosterKeys.map(key => [key, { $ref: '#/$defs/secret', ...docOf(rosterDocs[key]) }]),
  ),
});

const hostSchema = (adapt: (schema: PlainDict) => PlainDict = schema => schema): PlainDict => ({
  type: ['object', 'null'],
  properties: Object.fromEntries(
    Object.entries(hostSchemas()).map(([key, schema]) => [key, adapt(schema)]),
  ),
  additionalProperties: false,
});

const docOf = (doc: string | undefined): PlainDict =>
  doc === undefined ? {} : { description: doc };

/** The JSON Schema of top files: environments, targets, and what each target gets. */
export const topSchema = (): PlainDict => ({
  $schema: schemaDialect,
  title: 'Top file',
  description: 'SLS by environment and target.',
  type: ['object', 'null'],
  properties: {
    include: {
      description: 'Further top files of the environment.',
      type: 'array',
      items: { type: 'string' },
    },
  },
  additionalProperties: {
    description: 'Targets of an environment.',
    type: ['object', 'null', 'array', 'string'],
    maxItems: 0,
    maxLength: 0,
    additionalProperties: {
      description: 'SLS of a target, and how the target is matched.',
      type: 'array',
      items: {
        anyOf: [
          { type: 'string' },
          {
            type: 'object',
            properties: {
              match: {
                description: 'How the target is matched. Default: glob.',
                enum: [
                  'glob',
                  'pcre',
                  'list',
                  'nodegroup',
                  'grain',
                  'grain_pcre',
                  'pillar',
                  'pillar_pcre',
                  'pillar_exact',
                  'ipcidr',
                  'compound',
                  'data',
                  'range',
                ],
              },
              ignore_missing: { type: 'boolean' },
            },
          },
        ],
      },
    },
  },
});
