const html: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&#34;',
  "'": '&#39;',
};

const escaped = (text: string): string => text.replace(/[&<>"']/g, char => html[char] ?? char);
const same = (text: string): string => text;

/**
 * Mako's filters by name, applied to the text of an expression. `json` is ours: it is applied to
 * the value.
 */
export const makoTextFilters: ReadonlyMap<string, (text: string) => string> = new Map([
  ['h', escaped],
  ['x', escaped],
  ['entity', escaped],
  ['u', text => encodeURIComponent(text).replace(/%20/g, '+')],
  ['trim', text => text.trim()],
  ['n', same],
  ['str', same],
  ['unicode', same],
  ['json', same],
]);

/** A filter by name, or a function of the template. */
export type Filter = string | ((text: string) => unknown);

/**
 * Returns the printed form of a value: strings unchanged, nothing for null, collections as JSON.
 */
export const shownAs = async (value: unknown, filters: readonly Filter[]): Promise<string> => {
  let text = filters.includes('json') ? JSON.stringify(value) : show(value);
  for (const filter of filters)
    text = show(await (typeof filter === 'string' ? makoTextFilters.get(filter) : filter)?.(text));
  return text;
};

const show = (value: unknown): string => {
  if (value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};
