import { isPlainDict, type Plain, type PlainDict } from './plain.ts';
import { type PrefetchedRender, prefetchedFileKey, sortedJson } from './prefetch.ts';

/**
 * The identity of a template within a job: the name of its state ('' for the function of
 * the job itself), source, engine and variables. Both sides compute it; the host sends nothing of
 * it but the hash, which has no meaning for control unless the job holds such a template.
 */
export const renderIdentity = (
  { source, saltenv, template, context }: Omit<PrefetchedRender, 'chunk'>,
  state: string,
): string => sortedJson([state, sourceKey(source, saltenv), template, ownVariables(context)]);

/** Variables without those that other states collected on the host. */
export const ownVariables = (context: PlainDict): PlainDict => {
  const { accumulator: _, ...rest } = context;
  return rest;
};

/** A source that is not in the file roots: on the host, or in the web. */
export const isElsewhere = (source: string): boolean =>
  source.startsWith('/') || /^(?!salt:)[a-z][a-z0-9+.-]*:\/\//i.test(source);

const sourceKey = (source: string, saltenv: string): string =>
  source === '' || isElsewhere(source)
    ? source
    : prefetchedFileKey(source, saltenv).replace(/\/{2,}/g, '/');

/** The sources in an argument: names, or dictionaries that hold a hash beside each name. */
export const sourcesIn = (argument: Plain | undefined): string[] =>
  [argument]
    .flat()
    .flatMap(item =>
      typeof item === 'string' ? [item] : isPlainDict(item) ? Object.keys(item) : [],
    );
