import type { Ranges } from '../../data/taint.ts';
import type { Dict } from '../../data/values/value.ts';
import type { FileRoots } from '../../fileserver/file-roots.ts';
import type { Mapping } from '../source-map.ts';
import type { RenderContext, Stage } from '../types.ts';
import { DependencyTrace } from './dependency-trace.ts';
import { deepFingerprint, joinFingerprints } from './fingerprint.ts';
import { RecordedReads } from './recorded-reads.ts';
import { Recorder } from './recorder.ts';
import { ResultTree } from './tree.ts';

type Render = (text: string, stage: Stage) => Promise<string>;

/**
 * Renders a template, or reuses the text of an earlier host if all values that the template reads
 * are the same. A template that calls functions with side effects, or uses randomness or the clock,
 * is rendered for each host.
 *
 * @param render receives a stage whose `recorder` must be notified of every read (`recorder.ts`).
 */
export const shareText = async (
  engine: string,
  text: string,
  stage: Stage,
  render: Render,
): Promise<string> => {
  const { context } = stage.request;
  const store = storeOf(context);
  const alone = (): Promise<string> => {
    context.onReads?.(undefined);
    return render(text, stage);
  };
  if (isAlone(store, context)) return alone();
  const results = resultsOf(store, engine, text, stage);
  const known = await results.tree.find(context);
  if (known !== undefined) {
    results.hits += 1;
    stage.printed(known.tainted);
    if (known.map) stage.mapped(known.map);
    context.onReads?.(known.reads);
    return known.text;
  }
  if (results.misses > fewest + results.hits) return alone();
  results.misses += 1;
  const recorder = new Recorder(context);
  let tainted: Ranges | undefined;
  let map: Mapping | undefined;
  const rendered = await render(text, {
    ...stage,
    recorder,
    printed: ranges => {
      tainted = ranges;
      stage.printed(ranges);
    },
    mapped: own => {
      map = own;
      stage.mapped(own);
    },
    request: { ...stage.request, context: { ...context, call: recorder.call } },
  });
  const reads = recorder.isWhole ? new RecordedReads(recorder.seen, context) : undefined;
  context.onReads?.(reads);
  if (reads) {
    results.tree.add(recorder.seen, { text: rendered, tainted, map, reads });
    store.size += rendered.length;
    for (const { mark } of recorder.seen) store.size += mark.length + costOfEntry;
  }
  return rendered;
};

/** If the template's reads differed for this many hosts, they are not recorded any more. */
const fewest = 8;

type Results = { readonly tree: ResultTree; hits: number; misses: number };

type Store = {
  /** The grains of the first host. */
  readonly first: WeakRef<Dict>;
  hasSeveral: boolean;
  /** By text, then by everything else that is known before the first read. */
  texts: Map<string, Map<string, Results>>;
  /** Approximate number of characters that are kept. */
  size: number;
};

const stores = new WeakMap<FileRoots, Store>();

const mostCharacters = 32_000_000;
const costOfEntry = 200;

const storeOf = ({ files, grains }: RenderContext): Store => {
  let store = stores.get(files);
  if (!store) {
    store = { first: new WeakRef(grains), hasSeveral: false, texts: new Map(), size: 0 };
    stores.set(files, store);
  }
  return store;
};

/**
 * Keeps the texts rendered with some files for templates rendered with these files as they are now:
 * the reads of the templates show which of them changed.
 */
export const keepTexts = (before: FileRoots, now: FileRoots): void => {
  const store = stores.get(before);
  if (store) stores.set(now, store);
};

/** One host alone, the usual case, pays nothing for those that never come. */
const isAlone = (store: Store, { grains, isOneOfMany = false }: RenderContext): boolean => {
  store.hasSeveral ||= isOneOfMany || store.first.deref() !== grains;
  return !store.hasSeveral;
};

const resultsOf = (store: Store, engine: string, text: string, stage: Stage): Results => {
  if (store.size > mostCharacters) {
    store.texts = new Map();
    store.size = 0;
  }
  let ofText = store.texts.get(text);
  if (!ofText) {
    ofText = new Map();
    store.texts.set(text, ofText);
    store.size += text.length;
  }
  const circumstances = circumstancesOf(engine, stage);
  let results = ofText.get(circumstances);
  if (!results) {
    results = { tree: new ResultTree(), hits: 0, misses: 0 };
    ofText.set(circumstances, results);
    store.size += circumstances.length + costOfEntry;
  }
  return results;
};

const circumstancesOf = (engine: string, { argument, guarded, request }: Stage): string => {
  const { file, saltenv, sls, tplfile, context } = request;
  return joinFingerprints([
    engine,
    argument,
    String(guarded),
    file,
    saltenv,
    sls ?? '\0',
    tplfile ?? '\0',
    context.extra ? deepFingerprint(context.extra, context.taint) : '',
    new DependencyTrace(context).start,
  ]);
};
