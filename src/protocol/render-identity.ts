import { isPlainDict, type Plain, type PlainDict } from './plain.ts';
import { type PrefetchedRender, prefetchedFileKey, sortedJson } from './prefetch.ts';

/**
 * Identifies a template within a job: the name of its state ('' for the job's own function),
 * source, engine and variables. Both sides compute it; the host sends only its hash, which has no
 * meaning for the control node unless the job contains such a template.
 */
export const renderIdentity = (
  { source, saltenv, template, context }: Omit<PrefetchedRender, 'chunk'>,
  state: string,
): string => sortedJson([state, sourceKey(source, saltenv), template, ownVariables(context)]);

/** Returns the variables without those that other states collected on the host. */
export const ownVariables = (context: PlainDict): PlainDict => {
  const { accumulator: _, ...rest } = context;
  return rest;
};

/** Whether a source is outside of the file roots: on the host, or on the web. */
export const isElsewhere = (source: string): boolean =>
  source.startsWith('/') || /^(?!salt:)[a-z][a-z0-9+.-]*:\/\//i.test(source);

const sourceKey = (source: string, saltenv: string): string =>
  source === '' || isElsewhere(source)
    ? source
    : prefetchedFileKey(source, saltenv).replace(/\/{2,}/g, '/');

/** Returns the sources in an argument: names, or dictionaries with a hash beside each name. */
export const sourcesIn = (argument: Plain | undefined): string[] =>
  [argument]
    .flat()
    .flatMap(item =>
      typeof item === 'string' ? [item] : isPlainDict(item) ? Object.keys(item) : [],
    );
