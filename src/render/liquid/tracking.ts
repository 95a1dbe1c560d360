import {
  type Context,
  type Emitter,
  type Liquid,
  LiquidError,
  RenderError,
  type Template,
} from 'liquidjs';
import { choosesOnlyNames, rangesOf, wholeRange } from '../../data/taint.ts';
import type { Data } from '../../data/values/value.ts';
import {
  type FindRanges,
  type FoundRanges,
  ofJoined,
  ofSerialized,
  ofSplit,
} from '../taint/align.ts';
import { choiceError } from '../taint/choice-error.ts';
import { onlySelects } from '../taint/only-selects.ts';
import { someString } from '../taint/some-string.ts';
import { type TaintSource, TaintTable } from '../taint/taint-table.ts';
import { transfers } from '../taint/transfers.ts';
import { MappedEmitter, Printed, TrackingEmitter } from './emitter.ts';
import { mapsOf } from './origins.ts';
import { stageOf } from './stage.ts';
import { unseen } from './wrap.ts';

const tables = new WeakMap<object, TaintTable>();

/** Returns the taint table of one rendering; `undefined` if no host is involved. */
export const tableOf = (globals: object): TaintSource | undefined => {
  const known = tables.get(globals);
  if (known) return known;
  const { taint } = stageOf(globals).request.context;
  if (!taint) return undefined;
  const made = new TaintTable(taint.owner, taint);
  tables.set(globals, made);
  return made;
};

/**
 * Refuses host-supplied data in the path of a template or data file, except a name within one
 * folder.
 */
export const refuseTaintedPath = (globals: object, path: string): void => {
  const table = tableOf(globals);
  const ranges = table?.of(path);
  if (table && ranges && !choosesOnlyNames(path, ranges))
    throw choiceError(table.owner, ranges, `the file "${path}"`);
};

/**
 * Returns the text of a printed value with its tainted parts.
 *
 * @param guarded the text, escaped for another engine
 */
export const printedBy = (
  globals: object,
  data: Data,
  text: string,
  guarded: string,
): string | Printed => {
  const table = tableOf(globals);
  if (!table) return guarded;
  const look: FindRanges = part => table.of(part);
  const ranges = typeof data === 'string' ? look(data) : ofSerialized(data, text, look);
  return ranges && ranges.length > 0 ? new Printed(guarded, ranges) : guarded;
};

type RenderTemplates = (
  templates: Template[],
  ctx: Context,
  emitter?: unknown,
) => Generator<unknown, unknown, unknown>;

/** Collects every printed text with its origins and taint, and tracks every filter. */
export const trackPrints = (liquid: Liquid): void => {
  const renderer = liquid.renderer as unknown as { renderTemplates: RenderTemplates };
  renderer.renderTemplates = printAll;
  for (const [name, filter] of Object.entries(liquid.filters))
    if (typeof filter === 'function') liquid.filters[name] = tracked(name, filter as Handler);
};

/** Renders templates one after the other, as Liquid does, and records which one is printing. */
const printAll: RenderTemplates = function* (templates, ctx, given) {
  const emitter = given instanceof MappedEmitter ? given : emitterFor(ctx.globals);
  const { renderLimit } = ctx as unknown as { renderLimit: { check: (now: number) => void } };
  renderLimit.check(performance.now());
  for (const template of templates) {
    renderLimit.check(performance.now());
    emitter.at = template;
    try {
      const html = yield template.render(ctx, emitter as unknown as Emitter);
      if (html) {
        emitter.at = template;
        emitter.write(html);
      }
    } catch (error) {
      throw LiquidError.is(error) ? error : new RenderError(error as Error, template);
    }
    if (ctx.breakCalled || ctx.continueCalled) break;
  }
  return emitter === given ? emitter.buffer : emitter.finish();
};

const emitterFor = (globals: object): MappedEmitter => {
  const table = tableOf(globals);
  const maps = mapsOf(globals);
  return table ? new TrackingEmitter(maps, table) : new MappedEmitter(maps);
};

type Handler = (this: { context: Context }, value: unknown, ...argv: unknown[]) => unknown;

const tracked = (name: string, handler: Handler) =>
  function (this: { context: Context }, value: unknown, ...argv: unknown[]): unknown {
    const table = tableOf(this.context.globals);
    const result = handler.call(this, value, ...argv);
    if (!table) return result;
    const note = (made: unknown): unknown => {
      noteFilter(name, value, argv, made, table);
      return made;
    };
    if (result instanceof Promise) return result.then(note);
    return isGenerator(result) ? afterwards(result, note) : note(result);
  };

const isGenerator = (value: unknown): value is Generator =>
  typeof value === 'object' && value !== null && 'next' in value && 'throw' in value;

function* afterwards(steps: Generator, note: (made: unknown) => unknown): Generator {
  return note(yield steps);
}

const noteFilter = (
  name: string,
  given: unknown,
  argv: readonly unknown[],
  made: unknown,
  table: TaintSource,
): void => {
  const canHoldText = typeof made === 'string' || (typeof made === 'object' && made !== null);
  if (made === given || !canHoldText || name.startsWith('load_')) return;
  if (name === 'salt' && onlySelects(String(given))) return;
  const value = unseen(given);
  const args = argv.map(unseen);
  const look: FindRanges = text => table.of(text);
  let source: string | undefined;
  const isTainted = someString([value, args], text => {
    source = look(text)?.[0].source;
    return source !== undefined;
  });
  if (!isTainted) return;
  const result = unseen(made);
  const learn = (text: string, found: FoundRanges): void => {
    const ranges = rangesOf(found ?? wholeRange(text, source ?? 'data'));
    if (ranges) table.learn(text, ranges);
  };
  if (typeof result === 'string') {
    learn(result, exactOf(name, { value, args, result, look }));
    return;
  }
  const split = Array.isArray(result) && typeof value === 'string';
  const parts = split ? ofSplit(value, args[0], result, look) : undefined;
  if (parts) {
    for (const [part, ranges] of parts) learn(part, ranges);
    return;
  }
  const known = new Set<string>();
  someString([value, args], text => {
    known.add(text);
    return false;
  });
  someString(result, text => {
    if (!known.has(text)) learn(text, undefined);
    return false;
  });
};

type Work = {
  readonly value: unknown;
  readonly args: readonly unknown[];
  readonly result: string;
  readonly look: FindRanges;
};

const exactOf = (name: string, work: Work): FoundRanges => {
  const { value, args, result, look } = work;
  const [first] = args;
  if (name === 'join')
    return Array.isArray(value) ? ofJoined(value, String(first ?? ' '), result, look) : undefined;
  if ((name === 'append' || name === 'prepend') && typeof value === 'string')
    return ofJoined(name === 'append' ? [value, first] : [first, value], '', result, look);
  return transfers.get(name)?.(work);
};
