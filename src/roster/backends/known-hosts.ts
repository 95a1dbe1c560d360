import { isAddress, isId } from '../address.ts';
import type { BackendHosts, Entry } from '../roster.ts';
import { readRosterFile } from './flat.ts';

/** Salt's `sshknownhosts`: every plain name of a known_hosts file; hashed names cannot be read. */
export const knownHosts = async (file: string): Promise<BackendHosts> => {
  const entries = new Map<string, Entry>();
  for (const [at, line] of (await readRosterFile(file)).split('\n').entries()) {
    const [names = '', type] = line.trim().split(/\s+/);
    if (type === undefined || names.startsWith('#') || names.startsWith('@')) continue;
    const entry = entryOf(names.split(',')[0] ?? '', file, at + 1);
    if (entry !== undefined && !entries.has(entry.id)) entries.set(entry.id, entry);
  }
  return { entries: [...entries.values()] };
};

const entryOf = (name: string, file: string, line: number): Entry | undefined => {
  const [, bracketed, port] = /^\[([^\]]+)\]:(\d{1,5})$/.exec(name) ?? [];
  const host = bracketed ?? name;
  if (/[*?!|]/.test(host) || !isId(host) || !isAddress(host)) return undefined;
  const value = new Map<string, string | number>([['host', host]]);
  if (port !== undefined) value.set('port', Number(port));
  return { id: host, value: new Map(value), file, at: { file, line } };
};
