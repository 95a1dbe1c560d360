import { type Context, defaultOperators, Liquid, type Template } from 'liquidjs';
import { dumpJson } from '../../data/formats/json-dump.ts';
import type { Data } from '../../data/values/value.ts';
import type { FileRoots } from '../../fileserver/file-roots.ts';
import { escapePrinted } from '../escape-printed.ts';
import { registerFilters } from './filters.ts';
import { registerPartials } from './partials.ts';
import { stageOf } from './stage.ts';
import { refuseTrailing } from './strict.ts';
import { registerTags } from './tags.ts';
import { printedBy, trackPrints } from './tracking.ts';
import { unwrap } from './wrap.ts';

/** Liquid for one set of files and one saltenv, with the parsed templates. */
export type Engine = {
  readonly liquid: Liquid;
  readonly parse: (text: string, file: string) => Template[];
  /** The file that a template's text was read from. */
  readonly fileOf: (text: string) => string | undefined;
};

const engines = new WeakMap<FileRoots, Map<string, Engine>>();

/** Returns the engine, which hosts with the same files share. */
export const engineFor = (files: FileRoots, saltenv: string): Engine => {
  const known = engines.get(files) ?? new Map<string, Engine>();
  engines.set(files, known);
  const found = known.get(saltenv) ?? makeEngine();
  known.set(saltenv, found);
  return found;
};

const makeEngine = (): Engine => {
  refuseTrailing();
  const names = new Map<string, string>();
  const liquid = new Liquid({
    // Templates are read from the file roots by the tags themselves.
    templates: {},
    // Detecting this machine's locale takes 15 ms, and templates must not depend on it.
    locale: 'en-US',
    strictVariables: true,
    strictFilters: true,
    lenientIf: true,
    ownPropertyOnly: true,
    parseLimit: 10_000_000,
    renderLimit: 600_000,
    memoryLimit: 200_000_000,
    outputEscape: printValue as never,
    operators: { ...defaultOperators, contains },
  });
  const parsed = new Map<string, Template[]>();
  const parse = (text: string, file: string): Template[] => {
    const key = `${file}\0${text}`;
    const known = parsed.get(key);
    if (known) return known;
    const templates = liquid.parse(text, file);
    if (parsed.size >= maxParsed) parsed.clear();
    parsed.set(key, templates);
    return templates;
  };
  registerTags(liquid);
  registerPartials(liquid, (text, file) => {
    names.set(text, file);
    return parse(text, file);
  });
  registerFilters(liquid);
  trackPrints(liquid);
  return { liquid, fileOf: text => names.get(text), parse };
};

const maxParsed = 2000;

/** Prints a value, escaped if another engine follows. */
function printValue(this: { readonly context: Context }, value: unknown): string {
  const data = unwrap(value);
  const text = showValue(data);
  const { globals } = this.context;
  return printedBy(
    globals,
    data,
    text,
    stageOf(globals).guarded ? escapePrinted(text) : text,
  ) as string;
}

/**
 * Formats the output of `{{ … }}`: strings unchanged, nothing for null, dicts and lists as JSON,
 * which YAML can read.
 */
const showValue = (data: Data): string => {
  if (data === null) return '';
  return typeof data === 'string' ? data : dumpJson(data);
};

/** `contains` with a dict: whether it has the key. */
const contains: Contains = (left, right, ctx) =>
  typeof left === 'object' && left !== null && !Array.isArray(left) && Symbol.iterator in left
    ? isKey(left, right)
    : containsValue(left, right, ctx);

type Contains = NonNullable<(typeof defaultOperators)['contains']>;

const containsValue = defaultOperators.contains as (...args: unknown[]) => boolean;

const isKey = (dict: object, key: unknown): boolean =>
  (typeof key === 'string' || typeof key === 'number') && String(key) in dict;
