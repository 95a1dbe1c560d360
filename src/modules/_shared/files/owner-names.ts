import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';

/** Users and groups by name and id, read from the files and asked from NSS where they say nothing. */

type Entry = readonly string[];
/**
 * A file and what was found in it: names are searched for, since most runs ask for few of many. The
 * lines of all names and ids are noted for an id, and for a run that asks for more names.
 */
type Table = {
  readonly stamp: string;
  readonly text: string;
  readonly byName: Map<string, Entry>;
  readonly byId: Map<number, Entry>;
  searches: number;
  index?: Index;
};
/** Where the line of each name and of each id begins; of several lines, the first. */
type Index = { readonly names: Map<string, number>; readonly ids: Map<number, number> };
type Kind = 'passwd' | 'group';

const tables = new Map<Kind, Table>();

/** The id of a user, or undefined when there is none. Numbers, and names of digits, are ids. */
export const uidOf = (user: string | number): number | undefined => idOf('passwd', user);

/** The id of a group, or undefined when there is none. */
export const gidOf = (group: string | number): number | undefined => idOf('group', group);

/** The name of a user id; the id itself where nobody has it, as Salt shows it. */
export const userName = (uid: number): string | number => nameOf('passwd', uid);

export const groupName = (gid: number): string | number => nameOf('group', gid);

/** The primary group of a user. */
export const primaryGid = (user: string): number | undefined => {
  const gid = lookUp('passwd', user)?.[3];
  return gid === undefined ? undefined : Number(gid);
};

export const homeOf = (user: string): string | undefined => lookUp('passwd', user)?.[5];

export const nameExists = (kind: Kind, name: string): boolean => lookUp(kind, name) !== undefined;

const idOf = (kind: Kind, name: string | number): number | undefined => {
  if (typeof name === 'number') return name;
  const id = lookUp(kind, name)?.[2];
  return id === undefined ? undefined : Number(id);
};

const nameOf = (kind: Kind, id: number): string | number => {
  const table = read(kind);
  const entry = table.byId.get(id) ?? withId(table, id) ?? askNss(kind, String(id), table);
  return entry?.[0] ?? id;
};

const lookUp = (kind: Kind, name: string): Entry | undefined => {
  const table = read(kind);
  return table.byName.get(name) ?? search(table, name) ?? askNss(kind, name, table);
};

/** Names that are searched for in the whole text, before an index of all names takes less time. */
const fewSearches = 16;

const search = (table: Table, name: string): Entry | undefined => {
  if (name === '' || name.startsWith('#') || /[:\n]/.test(name)) return undefined;
  table.searches += 1;
  const entry =
    table.index || table.searches > fewSearches
      ? entryAt(table, indexOf(table).names.get(name))
      : firstWith(table, name);
  if (entry) table.byName.set(name, entry);
  return entry;
};

const firstWith = (table: Table, name: string): Entry | undefined => {
  const { text } = table;
  const start = `\n${name}:`;
  for (let at = text.indexOf(start); at >= 0; at = text.indexOf(start, at + 1)) {
    const entry = entryAt(table, at + 1);
    if (entry) return entry;
  }
  return undefined;
};

const withId = (table: Table, id: number): Entry | undefined => {
  const entry = entryAt(table, indexOf(table).ids.get(id));
  if (entry) table.byId.set(id, entry);
  return entry;
};

const entryAt = ({ text }: Table, at: number | undefined): Entry | undefined => {
  if (at === undefined) return undefined;
  const end = text.indexOf('\n', at);
  return entryOf(text.slice(at, end < 0 ? undefined : end));
};

const indexOf = (table: Table): Index => {
  table.index ??= makeIndex(table.text);
  return table.index;
};

const makeIndex = (text: string): Index => {
  const index: Index = { names: new Map(), ids: new Map() };
  let at = 0;
  for (const line of text.split('\n')) {
    const entry = entryOf(line);
    if (entry) {
      const [name = '', , id] = entry;
      if (!index.names.has(name)) index.names.set(name, at);
      if (!index.ids.has(Number(id))) index.ids.set(Number(id), at);
    }
    at += line.length + 1;
  }
  return index;
};

const read = (kind: Kind): Table => {
  const path = `/etc/${kind}`;
  const { mtimeMs, size, ino } = statSync(path, { throwIfNoEntry: false }) ?? {
    mtimeMs: 0,
    size: 0,
    ino: 0,
  };
  const stamp = `${mtimeMs} ${size} ${ino}`;
  const known = tables.get(kind);
  if (known?.stamp === stamp) return known;
  const text = ino ? `\n${readFileSync(path, 'utf8')}` : '';
  const table: Table = { stamp, text, byName: new Map(), byId: new Map(), searches: 0 };
  tables.set(kind, table);
  return table;
};

const entryOf = (line: string): Entry | undefined => {
  const entry = line.split(':');
  const [name, , id] = entry;
  if (!name || name.startsWith('#') || id === undefined || !/^\d+$/.test(id)) return undefined;
  return entry;
};

const usesOtherSources = (kind: Kind): boolean => {
  try {
    const line = readFileSync('/etc/nsswitch.conf', 'utf8').match(
      new RegExp(`^\\s*${kind}:(.*)$`, 'm'),
    )?.[1];
    return line !== undefined && /\b(?!files\b|compat\b|systemd\b)[a-z]+\b/.test(line);
  } catch {
    return false;
  }
};

const missing = new WeakMap<Table, Set<string>>();

/** `getent` starts only where NSS has a source besides the files, and once for each name. */
const askNss = (kind: Kind, key: string, table: Table): Entry | undefined => {
  if (key === '' || key.startsWith('-')) return undefined;
  const asked = missing.get(table) ?? new Set();
  missing.set(table, asked);
  if (asked.has(key) || !usesOtherSources(kind)) return undefined;
  asked.add(key);
  const { status, stdout } = spawnSync('getent', [kind, key], {
    encoding: 'utf8',
    timeout: 10_000,
  });
  const entry = status === 0 ? entryOf(stdout.split('\n')[0] ?? '') : undefined;
  if (!entry) return undefined;
  const [name = '', , id] = entry;
  if (!table.byName.has(name)) table.byName.set(name, entry);
  // An id of the file has the name that it has there.
  if (!indexOf(table).ids.has(Number(id))) table.byId.set(Number(id), entry);
  return entry;
};
