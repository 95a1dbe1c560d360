/** Where a `source` points: `salt://`, `http(s)://`, `file://` or a path. */
export type SourceUrl = {
  readonly scheme: 'salt' | 'http' | 'https' | 'file' | 'other';
  /** The path in the saltenv, or on this host. */
  readonly path: string;
  readonly saltenv?: string;
};

export const parseSource = (source: string): SourceUrl => {
  const scheme = source.match(/^([A-Za-z][A-Za-z0-9+.-]*):\/\//)?.[1]?.toLowerCase();
  if (scheme === undefined) return { scheme: 'file', path: source };
  if (scheme === 'salt') return parseSalt(source.slice('salt://'.length));
  if (scheme === 'file') return { scheme, path: source.slice('file://'.length) };
  if (scheme === 'http' || scheme === 'https') return { scheme, path: source };
  return { scheme: 'other', path: source };
};

const parseSalt = (rest: string): SourceUrl => {
  const at = rest.lastIndexOf('?');
  if (at < 0) return { scheme: 'salt', path: rest.replace(/^\|/, '') };
  const saltenv = new URLSearchParams(rest.slice(at + 1)).get('saltenv');
  const path = (saltenv ? rest.slice(0, at) : rest).replace(/^\|/, '');
  return { scheme: 'salt', path, ...(saltenv && { saltenv }) };
};

/** A URL without the password somebody wrote into it. */
export const redactUrl = (url: string): string =>
  url.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, '$1<redacted>@');
