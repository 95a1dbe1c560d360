import { type Event, parseEvents, YAMLException } from 'js-yaml';
import { constructsOf } from './constructs.ts';
import { separatingTabs } from './continued-nodes.ts';
import { checkDirectives } from './directives.ts';
import {
  anchorEdits,
  betweenScalars,
  dashEdits,
  type Edit,
  Edits,
  indentEdits,
  verified,
  withoutTabs,
} from './leniency.ts';
import { maxDepth } from './node.ts';
import { syntaxError } from './syntax-error.ts';
import { worthKeeping, type YamlCache } from './yaml-cache.ts';
import type { YamlSource } from './yaml-error.ts';

/** The events of js-yaml, and the text to which their offsets refer. */
export type Parsed = {
  readonly text: string;
  readonly events: readonly Event[];
  /** Converts an offset in `text` to one in the source. */
  readonly sourceOffset: (offset: number) => number;
  /** No earlier run has kept them. */
  readonly isNew: boolean;
};

/** Limit of attempts; in each one, edits at wrong positions are dropped. */
const maxRounds = 20;

/**
 * Parses a text with js-yaml. Accepts constructs that PyYAML accepts and js-yaml refuses: lines
 * inside quotes and brackets that are indented less than the node, tabs before and between
 * brackets, `:` directly after an anchor or alias that is a key, and `-` as a string between
 * brackets. Such texts are parsed again after inserting spaces or quotes.
 *
 * @throws TsaltError `yaml-syntax`, `yaml-depth`
 */
export const parse = (source: YamlSource): Parsed => {
  checkDirectives(source);
  return parseText(source, source.text);
};

/** Parses a part of a text that is valid by itself. Offsets are those of the text. */
export const parsePiece = (source: YamlSource, start: number, end: number): Parsed =>
  movedBy(start, parseText(source, source.text.slice(start, end)));

/** Returns the events of a text with the offsets of a longer one, of which it is a part. */
export const movedBy = (start: number, { sourceOffset, ...parsed }: Parsed): Parsed => ({
  ...parsed,
  sourceOffset: offset => start + sourceOffset(offset),
});

const parseText = (source: YamlSource, given: string): Parsed => {
  const text = given.replaceAll('\x85', '\n');
  let edits: readonly Edit[] = anchorEdits(text);
  let tabs: readonly number[] = [];
  let isLenient = false;
  for (let round = 0; ; round += 1) {
    try {
      const parsed = read(withoutTabs(text, tabs), edits, source.cache);
      if (edits.length + tabs.length === 0) return parsed;
      const constructs = constructsOf(parsed);
      const kept = verified(edits, constructs);
      const spaced = betweenScalars(tabs, constructs);
      if (kept.length === edits.length && spaced.length === tabs.length) return parsed;
      [edits, tabs] = round < maxRounds ? [kept, spaced] : [[], []];
    } catch (error) {
      if (!(error instanceof YAMLException)) throw error;
      const at = new Edits(edits).sourceOffset(error.mark?.position ?? 0);
      const isShallow: boolean = error.reason === deficient && !isLenient;
      if (isShallow) {
        isLenient = true;
        tabs = separatingTabs(text);
      }
      const more: readonly Edit[] = isShallow ? indentEdits(text) : dashEdits(text, at);
      if (round >= maxRounds || (more.length === 0 && !(isShallow && tabs.length > 0)))
        throw syntaxError(source, error.reason, at);
      edits = [...edits, ...more].sort((one, other) => one.at - other.at);
    }
  }
};

const deficient = 'deficient indentation';

const read = (text: string, edits: readonly Edit[], cache: YamlCache | undefined): Parsed => {
  if (edits.length === 0) return { text, ...eventsOf(text, cache), sourceOffset: same };
  const applied = new Edits(edits);
  const edited = applied.apply(text);
  return { text: edited, ...eventsOf(edited, cache), sourceOffset: applied.sourceOffset };
};

/** Returns the events of a text, from an earlier run if it is worth it. */
const eventsOf = (text: string, cache: YamlCache | undefined): Pick<Parsed, 'events' | 'isNew'> => {
  const known = text.length < worthKeeping ? undefined : cache?.events.get(text);
  return known
    ? { events: known, isNew: false }
    : { events: parseEvents(text, { maxDepth: maxDepth + 2 }), isNew: true };
};

/** Keeps the events of a large text for later runs. */
export const keepEvents = ({ cache }: YamlSource, { text, events, isNew }: Parsed): void => {
  if (isNew && text.length >= worthKeeping) cache?.events.put(text, events);
};

const same = (offset: number): number => offset;
