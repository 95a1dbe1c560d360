/** `sdb://profile/key`: the profile's name and the key, which may have slashes itself. */
export type SdbUri = { readonly profile: string; readonly key: string };

const scheme = 'sdb://';

/** Does this text look like an address of sdb? */
export const looksLikeSdb = (value: unknown): value is string =>
  typeof value === 'string' && value.startsWith(scheme);

/** The parts of an address; undefined where profile or key is missing. */
export const parseSdbUri = (uri: string): SdbUri | undefined => {
  const slash = uri.indexOf('/', scheme.length);
  if (!looksLikeSdb(uri) || slash <= scheme.length || slash === uri.length - 1) return undefined;
  return { profile: uri.slice(scheme.length, slash), key: uri.slice(slash + 1) };
};

/** The addresses of sdb that stand in a text. */
export const sdbUrisIn = (text: string): string[] => text.match(/sdb:\/\/[^\s'"]+/g) ?? [];
