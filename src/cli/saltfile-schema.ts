import type { Options } from 'yargs';
import { schemaDialect } from '../data/signatures/json-schema.ts';
import type { PlainDict } from '../protocol/plain.ts';
import { options } from '../request/options.ts';
import { saltfileNames, saltfileOption } from './saltfile.ts';

/** The JSON Schema of a Saltfile: sections of programs, with our options in our section. */
export const saltfileSchema = (): PlainDict => ({
  $schema: schemaDialect,
  title: 'Saltfile',
  description: 'Options of every run. The command line overrides them.',
  type: ['object', 'null'],
  properties: {
    'salt-ssh': { $ref: '#/$defs/options' },
    'tsalt-ssh': { $ref: '#/$defs/options' },
  },
  $defs: {
    options: { type: ['object', 'null'], properties: properties(), additionalProperties: false },
  },
});

/**
 * Each option under its names: Salt's, with and without `ssh_`, with dashes and with underscores.
 */
const properties = (): Record<string, PlainDict> => {
  const names = Object.keys(options).flatMap(name => {
    const plain = name.replaceAll('-', '_');
    return [plain, name, `ssh_${plain}`].filter(key => saltfileOption(key) === name);
  });
  const all = new Set([...names, ...saltfileNames]);
  return Object.fromEntries(
    [...all].flatMap(key => {
      const name = saltfileOption(key);
      // Only the command line may trust other users.
      return name === 'trust-owner' ? [] : [[key, valueSchema(name)]];
    }),
  );
};

const valueSchema = (name: string): PlainDict => {
  const { type, describe, choices }: Options = options[name as keyof typeof options];
  const description = describe ?? name;
  if (type === 'boolean') return { type: ['boolean', 'null'], description };
  return {
    type: ['string', 'number', 'boolean', 'array', 'null'],
    description,
    ...(choices ? { examples: choices.map(String) } : {}),
  };
};
