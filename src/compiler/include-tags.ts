import type { Data, Dict } from '../data/values/value.ts';
import { Float, isDict } from '../data/values/value.ts';

/** The words of `tags`: a list, or a string with commas between; undefined where it is neither. */
export const tagWords = (data: Data | undefined): string[] | undefined => {
  const items = typeof data === 'string' ? data.split(',') : data;
  if (!Array.isArray(items) || !items.every(isWord)) return undefined;
  return items.map(item => String(item).trim()).filter(word => word !== '');
};

const isWord = (item: Data): boolean =>
  typeof item === 'string' || typeof item === 'number' || item instanceof Float;

/**
 * The `tags` in the header of an SLS, which all of its states have. A mapping, or the short form
 * `tags: test.nop`, declares a state with that ID.
 */
export const headerTags = (sls: Dict): string[] | undefined => {
  const written = sls.get('tags');
  const isShortForm = typeof written === 'string' && written.includes('.');
  return isShortForm ? undefined : tagWords(written);
};

/** Splits an entry of `include` such as `{nginx: {tags: [web]}}` into the name and its tags. */
export const taggedInclude = (entry: Data): { readonly name: Data; readonly tags: string[] } => {
  const [pair, ...others] = isDict(entry) ? entry : [];
  if (pair === undefined || others.length > 0) return { name: entry, tags: [] };
  const [name, settings] = pair;
  if (isDict(settings)) {
    const tags = settings.size === 1 ? tagWords(settings.get('tags')) : undefined;
    if (tags) return { name, tags };
    // `{base: {nginx: {tags: [web]}}}`
    const inner = taggedInclude(settings);
    if (inner.name !== settings) return { name: new Map([[name, inner.name]]), tags: inner.tags };
  }
  return { name: entry, tags: [] };
};

/** Records the includes of a run and the tags on them. */
export class IncludeTags {
  readonly #links: { from: string; to: string; tags: readonly string[] }[] = [];
  readonly #sets = new Map<string, Set<string>>();

  /** Returns the tags of an SLS, which are complete once `inherit` was called. */
  of(sls: string): ReadonlySet<string> {
    return this.#set(sls);
  }

  link(from: string, to: string, tags: readonly string[]): void {
    this.#links.push({ from, to, tags });
  }

  /** Passes tags on to what an SLS includes in turn, also where another one had included it before. */
  inherit(): void {
    if (this.#links.every(({ tags }) => tags.length === 0)) return;
    for (let isGrowing = true; isGrowing; ) {
      isGrowing = false;
      for (const { from, to, tags } of this.#links) {
        const set = this.#set(to);
        const before = set.size;
        for (const tag of [...tags, ...this.#set(from)]) set.add(tag);
        if (set.size > before) isGrowing = true;
      }
    }
  }

  #set(sls: string): Set<string> {
    const known = this.#sets.get(sls) ?? new Set();
    this.#sets.set(sls, known);
    return known;
  }
}
