import { closestMatch } from '../data/closest-match.ts';
import type { SlsLoader } from '../data/sls.ts';

/** The message for a missing SLS: Salt's own sentence blames a master. */
export const missingSentence = (saltenv: string, sls: string): string =>
  `There is no SLS '${sls}' in saltenv '${saltenv}'.`;

/**
 * Returns where an SLS was looked for, and the closest match.
 *
 * @param names - all SLS of the environment
 */
export const missingHint = (
  loader: Pick<SlsLoader, 'folders'>,
  saltenv: string,
  sls: string,
  names: Iterable<string>,
): string | undefined => {
  const hints = [didYouMean(sls, [...names]), whereLooked(loader, saltenv, sls)];
  const text = hints.filter(hint => hint !== undefined).join('\n');
  return text === '' ? undefined : text;
};

const didYouMean = (sls: string, names: readonly string[]): string | undefined => {
  const asName = sls
    .replace(/\.sls$/, '')
    .replace(/\/init$/, '')
    .replaceAll('/', '.');
  const meant = names.includes(asName) ? asName : closestMatch(asName, names);
  if (meant === undefined) return undefined;
  const why = asName === sls ? '' : ' An SLS is named without .sls, and with dots for slashes.';
  return `Did you mean '${meant}'?${why}`;
};

const whereLooked = (
  { folders }: Pick<SlsLoader, 'folders'>,
  saltenv: string,
  sls: string,
): string | undefined => {
  const looked = folders?.(saltenv) ?? [];
  if (looked.length === 0) return undefined;
  const base = sls.replaceAll('.', '/');
  const places = looked.map(({ path, exists }) => (exists ? path : `${path} (does not exist)`));
  return `Looked for ${base}.sls and ${base}/init.sls in ${places.join(', ')}.`;
};
