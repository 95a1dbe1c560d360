import { buildArtifact } from '../../bundle/artifact.ts';
import type { Config } from '../../config/config.ts';
import { moduleFolders } from '../../config/module-dirs.ts';
import { closestMatch } from '../../data/closest-match.ts';
import { TsaltError } from '../../protocol/error.ts';
import type { PlainDict } from '../../protocol/plain.ts';
import { controlFunctions } from '../../wrapper/table.ts';
import { configSchema, rosterSchema, topSchema } from './project-schemas.ts';
import { slsSchema } from './sls-schema.ts';

type MakeSchema = (config: Config) => PlainDict | Promise<PlainDict>;

const projectKinds: Readonly<Record<string, MakeSchema>> = {
  sls: async config => {
    const artifact = await buildArtifact({
      ...moduleFolders(config),
      controlFunctions: controlFunctions(),
    });
    return slsSchema(artifact.modules);
  },
  roster: rosterSchema,
  config: configSchema,
  top: topSchema,
};

/**
 * `schema KIND`: the JSON Schema of a kind of file, for editors.
 *
 * @param others further kinds of files
 * @throws TsaltError `usage-words` for any other kind
 */
export const schemaText = async (
  words: readonly string[],
  config: Config,
  others: Readonly<Record<string, () => PlainDict>>,
): Promise<string> => {
  const schemas: Readonly<Record<string, MakeSchema>> = { ...projectKinds, ...others };
  const [kind = '', ...more] = words;
  const make = Object.hasOwn(schemas, kind) ? schemas[kind] : undefined;
  if (make !== undefined && more.length === 0)
    return `${JSON.stringify(await make(config), null, 1)}\n`;
  const meant = more.length === 0 ? closestMatch(kind, Object.keys(schemas)) : undefined;
  throw new TsaltError('usage-words', 'A schema describes one kind of file.', {
    hint: `tsalt-ssh schema ${meant ?? Object.keys(schemas).join('|')}`,
  });
};
