import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Dict, isDict } from '../../data/values/value.ts';
import { TsaltError } from '../../protocol/error.ts';
import type { RosterRequest } from '../load.ts';
import type { BackendHosts, Entry } from '../roster.ts';
import { parseFlatRoster, readRosterFile } from './flat.ts';

/** Salt's `dir`: a file per host, named by its id; `roster_domain` completes short names. */
export const dir = async (
  folder: string,
  { render, domain }: Pick<RosterRequest, 'render' | 'domain'>,
): Promise<BackendHosts> => {
  const names = await list(folder);
  const entries: Entry[] = [];
  // One after the other: thousands at once exceed the limit of open files.
  for (const name of names) {
    const file = join(folder, name);
    const value = await parseFlatRoster(await readRosterFile(file), file, render);
    const id = name.replace(/\.(ya?ml|conf)$/, '');
    const full = domain === undefined || id.includes('.') ? id : `${id}.${domain}`;
    entries.push({ id: full, value: withHost(value, full), file, at: { file, line: 1 } });
  }
  return { entries };
};

const withHost = (value: Entry['value'], id: string): Entry['value'] => {
  if (value !== null && !isDict(value)) return value;
  const dict: Dict = value ?? new Map();
  if (!dict.has('host')) dict.set('host', id);
  return dict;
};

const list = async (folder: string): Promise<string[]> => {
  try {
    const found = await readdir(folder, { withFileTypes: true });
    return found
      .filter(entry => !entry.isDirectory() && /^[^.~#][^~]*$/.test(entry.name))
      .map(entry => entry.name)
      .sort();
  } catch (cause) {
    throw new TsaltError('roster-missing', `There is no roster folder ${folder}.`, { cause });
  }
};
