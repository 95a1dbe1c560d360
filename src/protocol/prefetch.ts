import type { ControlMethods, FileResponse, ListedFile } from './job.ts';
import type { LowChunk } from './low.ts';
import { isPlainDict, type Plain, type PlainDict, plainText, setOwn } from './plain.ts';
import { mergeWholeFloats } from './whole-floats.ts';

/**
 * Data that the control node prepared before the run, so that a run without changes needs no
 * requests. Modules read it as `__context__['__prefetch__']`; everything in it is optional.
 */
export type Prefetch = {
  /** By `fileKey`. */
  readonly files?: { readonly [key: string]: FileResponse };
  /** Folders of `file.recurse` states that are not large, by `fileKey`. */
  readonly lists?: { readonly [key: string]: readonly ListedFile[] };
  /** By `prefetchKey` of the template's request. */
  readonly rendered?: { readonly [key: string]: RenderedFile };
};

/** A run's `Prefetch` on the host. More rendered templates may arrive while its states run. */
export type Prefetched = Prefetch & {
  /** Resolves when the templates of this state have arrived; undefined if they already have. */
  readonly arrival?: (tag: string) => Promise<void> | undefined;
  /** Calls `use` with what has arrived, and later with each further piece. */
  readonly eachPiece?: (use: (piece: PrefetchedPiece) => void) => void;
};

/** The templates of some of a run's chunks, in order. */
export type PrefetchedPiece = {
  readonly chunks: readonly LowChunk[];
  readonly rendered: NonNullable<Prefetch['rendered']>;
};

/**
 * Event `rendered` (control to host): templates that were rendered after the run was sent. Each
 * piece continues the one before.
 */
export type RenderedPiece = {
  /** The run's `rendering.run`. */
  readonly run: number;
  readonly rendered: NonNullable<Prefetch['rendered']>;
  /** The number of chunks, from the first on, of which nothing more will follow. */
  readonly covered: number;
};

/** A rendered template: the text if the control node sends it, or else only its hash and size. */
export type RenderedFile = {
  readonly sha256: string;
  readonly size: number;
  readonly text?: string;
};

export type PrefetchedRender = ControlMethods['file.renderComputed'];

/** Returns the key of a file: `salt://a?saltenv=dev` and `a` in saltenv dev are the same. */
export const prefetchedFileKey = (path: string, saltenv: string): string => {
  const [bare = '', query] = path.replace(/^salt:\/\/\|?/, '').split('?saltenv=');
  return `${query || saltenv}|${bare}`;
};

/**
 * Returns the key of a rendered template: JSON of all values of a request that `renderRequest` made,
 * without `have`. Names are left out, since keys are made and sent for each state.
 */
export const prefetchKey = (request: PrefetchedRender): string => {
  const { source, saltenv, template, context, text, chunk } = request;
  const { name, user, group, mode, attrs } = chunk;
  const values = [name, source, template, saltenv, user, group, mode, attrs, text];
  return JSON.stringify([...values, withSortedKeys(context)]);
};

/** Returns what people see of a key from `prefetchKey`. */
export const readPrefetchKey = (
  key: string,
): { readonly name: string; readonly source: string } => {
  const [name, source] = JSON.parse(key) as [name: string, source: string];
  return { name, source };
};

/**
 * Makes the request of `file.managed` for a template; the control node makes the same one from the
 * chunk.
 */
export const renderRequest = (
  { name, source, template, context, defaults, user, group, mode, attrs, text }: TemplateArguments,
  saltenv: string,
): PrefetchedRender => {
  const chunk: PlainDict = {};
  if (isGiven(attrs)) chunk.attrs = attrs;
  if (isGiven(group)) chunk.group = group;
  if (isGiven(mode)) chunk.mode = mode;
  chunk.name = name;
  if (isGiven(source)) chunk.source = source;
  if (isGiven(user)) chunk.user = user;
  const request = {
    chunk,
    context: mergeWholeFloats(defaults, context),
    saltenv,
    source: source ?? '',
    template,
  };
  return text === undefined ? request : { ...request, text };
};

const isGiven = <Value>(value: Value | null | undefined): value is Value =>
  value !== undefined && value !== null;

/** Arguments of a file state that a template can read; modes as `normalizeMode` formats them. */
export type TemplateArguments = {
  readonly name: string;
  readonly source?: string | undefined;
  readonly template: string;
  readonly context?: PlainDict | null | undefined;
  readonly defaults?: PlainDict | null | undefined;
  readonly user?: string | number | null | undefined;
  readonly group?: string | number | null | undefined;
  readonly mode?: string | number | null | undefined;
  readonly attrs?: string | null | undefined;
  readonly text?: string | undefined;
};

/** Returns the arguments of a `file.managed` chunk that its template can read. */
export const templateArguments = (chunk: LowChunk, source: string): TemplateArguments =>
  ({
    name: plainText(chunk.name),
    source,
    template: plainText(chunk.template),
    context: chunk.context,
    defaults: chunk.defaults,
    user: chunk.user,
    group: chunk.group,
    mode: chunk.mode,
    attrs: chunk.attrs,
  }) as TemplateArguments;

/** JSON of a value, with the keys of its dictionaries in order. */
export const sortedJson = (value: Plain | undefined): string =>
  JSON.stringify(withSortedKeys(value) ?? null);

/**
 * Returns a value with the keys of its dictionaries in order: itself if they already are, as those
 * of most states, or else a copy.
 */
export const withSortedKeys = (value: Plain | undefined): Plain | undefined => {
  if (isInOrder(value)) return value;
  if (Array.isArray(value)) return value.map(item => withSortedKeys(item) ?? null);
  if (!isPlainDict(value)) return value;
  const sorted: PlainDict = {};
  for (const key of Object.keys(value).sort())
    setOwn(sorted, key, withSortedKeys(value[key]) ?? null);
  return sorted;
};

const isInOrder = (value: Plain | undefined): boolean => {
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isInOrder);
  let last = '';
  for (const key of Object.keys(value)) {
    const item = value[key];
    if (key < last || item === undefined || !isInOrder(item)) return false;
    last = key;
  }
  return true;
};
