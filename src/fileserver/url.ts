/** A parsed `salt://` reference: a path inside the roots, and the requested saltenv. */
export type SaltUrl = { readonly path: string; readonly saltenv: string | undefined };

const scheme = 'salt://';

const isSaltUrl = (text: string): boolean => text.startsWith(scheme);

/**
 * Parses `salt://path?saltenv=name`. A path that starts with `|` is escaped: it may contain `?`, so
 * everything after the bar is the path (`salt.utils.url`). Text without the scheme is a path.
 */
export const parseSaltUrl = (url: string): SaltUrl => {
  const rest = isSaltUrl(url) ? url.slice(scheme.length) : url;
  if (rest.startsWith('|')) return withEnv(rest.slice(1), rest.lastIndexOf('?saltenv='), 1);
  if (!isSaltUrl(url)) return { path: rest, saltenv: undefined };
  const old = rest.indexOf('?env=');
  if (old >= 0) return { path: rest.slice(0, old), saltenv: undefined };
  return withEnv(rest, rest.indexOf('?saltenv='), 0);
};

const withEnv = (path: string, index: number, cut: number): SaltUrl =>
  index < 0
    ? { path, saltenv: undefined }
    : {
        path: path.slice(0, index - cut),
        saltenv: path.slice(index - cut + '?saltenv='.length) || undefined,
      };
