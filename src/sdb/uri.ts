/** `sdb://profile/key`: the profile's name and the key, which may have slashes itself. */
export type SdbUri = { readonly profile: string; readonly key: string };

const scheme = 'sdb://';

/** Whether this value looks like an sdb address. */
export const looksLikeSdb = (value: unknown): value is string =>
  typeof value === 'string' && value.startsWith(scheme);

/** Splits an address; undefined if profile or key is missing. */
export const parseSdbUri = (uri: string): SdbUri | undefined => {
  const slash = uri.indexOf('/', scheme.length);
  if (!looksLikeSdb(uri) || slash <= scheme.length || slash === uri.length - 1) return undefined;
  return { profile: uri.slice(scheme.length, slash), key: uri.slice(slash + 1) };
};

/** The sdb addresses in a text. */
export const sdbUrisIn = (text: string): string[] =>
  [...text.matchAll(address)].flatMap(([found]) => readings(found));

/**
 * Returns the addresses that are whole values in a text of YAML, JSON or the like: not comments,
 * not parts of strings.
 */
export const sdbValuesIn = (text: string): string[] =>
  [...text.replace(comments, '').matchAll(value)].flatMap(([, found = '']) => readings(found));

/**
 * Returns the beginnings of addresses that a template completes: `sdb://profile/{{ grains.role }}`.
 */
export const sdbBeginningsIn = (text: string): string[] =>
  [...text.matchAll(address)].flatMap(([found]) => {
    const end = found.search(/\{[{%#]|\$\{|<%/);
    return end < 0 ? [] : [found.slice(0, end)];
  });

const address = /sdb:\/\/[^\s'"]+/g;
const comments = /(?<!\S)#.*$/gm;
// A host may have written this text, so each match takes bounded time.
const value =
  /(sdb:\/\/(?<=(?:^|[:=?[{,-])[ \t]*['"]?sdb:\/\/)[^\s'"]{1,1000})(?=['"]?[ \t]*(?:$|[\r,\]}]))/gm;

/** The last characters may belong to the list or mapping around the address. */
const readings = (found: string): string[] => [found, found.replace(/[,\]}]+$/, '')];
