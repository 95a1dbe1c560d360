import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { mergeByStrategy } from '../../data/values/merge.ts';
import { noValue, traverse } from '../../data/values/traverse.ts';
import { type Data, type Dict, isDict } from '../../data/values/value.ts';
import { loadYaml } from '../../yaml/load.ts';
import type { SdbDriver, SdbWorld } from '../driver.ts';

/** `driver: yaml`: a value of YAML files merged together, by its path with colons. */
export const yamlDriver: SdbDriver = {
  get: async (key, profile, world) => {
    const merged = await read(profile, world);
    const data = profile.get('gpg') === true ? await world.decrypt(merged) : merged;
    const found = traverse(data, key, ':');
    return found === noValue ? null : found;
  },
};

const read = async (profile: Dict, { dir }: SdbWorld): Promise<Data> => {
  const files = profile.get('files');
  if (!Array.isArray(files)) throw new Error("its profile needs 'files', a list");
  const { strategy, mergeLists } = mergeSettings(profile.get('merge') ?? null);
  let merged: Data = new Map();
  for (const name of files) {
    const file = resolve(dir, String(name));
    const data = parse(await readText(file), file);
    if (data !== null) merged = mergeByStrategy(merged, data, { strategy, mergeLists });
  }
  return merged;
};

const mergeSettings = (merge: Data): { strategy: string; mergeLists: boolean } => {
  const given: Dict = isDict(merge) ? merge : new Map();
  return {
    strategy: String(given.get('strategy') ?? 'smart'),
    mergeLists: (given.get('merge_lists') ?? given.get('merge_list')) === true,
  };
};

const readText = async (file: string): Promise<string> => {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new Error(`${file} cannot be read (${String(Reflect.get(error as object, 'code'))})`);
  }
};

/** YAML's own errors quote what they read, which may be a secret. */
const parse = (text: string, file: string): Data => {
  let data: Data;
  try {
    data = loadYaml(text, { file });
  } catch {
    throw new Error(`${file} is no YAML`);
  }
  if (data === null || isDict(data)) return data;
  throw new Error(`${file} is no mapping`);
};
