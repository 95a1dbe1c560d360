import { type Data, type Dict, isDict, toData, toPlainDict } from '../../data/values/value.ts';
import { messageOf, showLocation, TsaltError } from '../../protocol/error.ts';
import type { Plain, PlainDict } from '../../protocol/plain.ts';
import { loadYaml } from '../../yaml/load.ts';
import type { UserPillarSource } from '../facts/user-modules.ts';
import { runPillarCommand } from './ext-pillar-command.ts';
import { httpSource } from './ext-pillar-http.ts';
import type { ExtPillarInput, ExtPillarSource } from './ext-pillar-source.ts';
import { fileTree } from './ext-pillar-tree.ts';
import { vaultPillar } from './ext-pillar-vault.ts';

/**
 * Runs the sources of `ext_pillar` in order and returns each one's dictionary for the merge. Throws
 * `ext-pillar` with the name of the source: an incomplete pillar must stop the run.
 */
export const extPillar = async (
  sources: readonly PlainDict[],
  input: ExtPillarInput,
): Promise<{ name: string; data: Dict }[]> => {
  const results: { name: string; data: Dict }[] = [];
  for (const entry of sources)
    for (const [name, settings] of Object.entries(entry)) {
      const source = ownSource(name, input.own?.get(name)) ?? builtIn(name);
      if (!source)
        throw new TsaltError('ext-pillar', `Unknown ext_pillar "${name}".`, {
          kind: 'pillar',
          hint: `Known are: ${[...Object.keys(known), ...(input.own?.keys() ?? [])].join(', ')}.`,
        });
      results.push({ name, data: await runSource(name, source, settings, input) });
    }
  return results;
};

const builtIn = (name: string): ExtPillarSource | undefined =>
  Object.hasOwn(known, name) ? known[name] : undefined;

const ownSource = (name: string, own: UserPillarSource | undefined): ExtPillarSource | undefined =>
  own &&
  (async (settings, { id, pillar, ask }) => {
    const known = toPlainDict(pillar);
    return toData(
      (await ask(['own', name, id, known, settings], () => own(id, known, settings))) as Plain,
    );
  });

const runSource = async (
  name: string,
  source: ExtPillarSource,
  settings: Plain,
  input: ExtPillarInput,
): Promise<Dict> => {
  try {
    const data = await source(settings, input);
    if (data === null) return new Map();
    if (isDict(data)) return data;
    throw new TsaltError('ext-pillar', 'it returned no dictionary');
  } catch (error) {
    const place = error instanceof TsaltError && error.at ? ` (${showLocation(error.at)})` : '';
    const reason = `${messageOf(error)}${place}`;
    throw new TsaltError('ext-pillar', `ext_pillar ${name} failed for ${input.id}: ${reason}`, {
      kind: 'pillar',
      hint: error instanceof TsaltError ? error.hint : undefined,
      cause: error,
    });
  }
};

/** JSON's own errors quote their input, which may be a secret. */
const parseJson = (text: string): Data => {
  let value: Plain;
  try {
    value = JSON.parse(text) as Plain;
  } catch {
    throw new Error(
      text.trim() === '' ? 'it returned nothing instead of JSON' : 'its output is not JSON',
    );
  }
  return toData(value);
};

const known: Readonly<Record<string, ExtPillarSource>> = {
  file_tree: fileTree,
  vault: vaultPillar,
  cmd_yaml: async (settings, input) =>
    loadYaml(await runPillarCommand(settings, input), { file: 'cmd_yaml' }),
  cmd_json: async (settings, input) => parseJson(await runPillarCommand(settings, input)),
  http_json: httpSource(parseJson),
  http_yaml: httpSource(text => loadYaml(text, { file: 'http_yaml' })),
};
