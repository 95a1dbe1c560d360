import { type Data, type Dict, isDict } from '../../data/values/value.ts';
import { TsaltError } from '../../protocol/error.ts';
import { parseRosterJson } from '../json.ts';
import { rosterKeys } from '../keys.ts';
import type { BackendHosts, Entry } from '../roster.ts';
import { readRosterFile } from './flat.ts';

/**
 * A Terraform state file (version 4): resources `salt_host` as Salt's `terraform` roster reads
 * them, and an output `salt_hosts` that is a flat roster.
 */
export const terraform = async (file: string): Promise<BackendHosts> => {
  const state = parseRosterJson(await readRosterFile(file), file);
  if (!isDict(state) || state.get('version') !== 4)
    throw new TsaltError(
      'roster-terraform',
      `The file ${file} is not a Terraform state of version 4.`,
    );
  return { entries: [...fromResources(state, file), ...fromOutput(state, file)] };
};

const fromResources = (state: Dict, file: string): Entry[] =>
  items(state.get('resources'))
    .filter(resource => resource.get('type') === 'salt_host')
    .flatMap(resource => items(resource.get('instances')))
    .map(instance => instance.get('attributes') ?? null)
    .filter(isDict)
    .map(attributes => entryOf(attributes, file));

const entryOf = (attributes: Dict, file: string): Entry => {
  const id = String(
    attributes.get('salt_id') ?? attributes.get('host') ?? attributes.get('id') ?? '',
  );
  const value: Dict = new Map();
  for (const [key, item] of attributes)
    if (rosterKeys.includes(String(key)) && item !== null && item !== '') value.set(key, item);
  return { id, value, file, at: { file }, outside: 'state' };
};

const fromOutput = (state: Dict, file: string): Entry[] => {
  const outputs = state.get('outputs') ?? null;
  const output = isDict(outputs) ? (outputs.get('salt_hosts') ?? null) : null;
  const hosts = isDict(output) ? (output.get('value') ?? null) : null;
  if (!isDict(hosts)) return [];
  return [...hosts].map(([id, value]) => ({
    id: String(id),
    value,
    file,
    at: { file },
    outside: 'state',
  }));
};

const items = (value: Data | undefined): Dict[] =>
  Array.isArray(value) ? value.filter(isDict) : [];
