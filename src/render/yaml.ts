import { runInTurns, runSteps, type Steps } from '../data/steps.ts';
import type { Ranges } from '../data/taint.ts';
import { cloneData, cloneTree, isTree } from '../data/values/clone.ts';
import type { Data } from '../data/values/value.ts';
import { ownTurn } from '../protocol/own-turn.ts';
import { Turns } from '../protocol/turns.ts';
import { loadYaml, loadYamlInPieces } from '../yaml/load.ts';
import type { YamlLoadOptions } from '../yaml/yaml-error.ts';
import { isTrueData } from './filters/filter.ts';
import { loadLargeYaml } from './large-yaml.ts';
import { traceOf } from './retrace.ts';
import { TextCache } from './text-cache.ts';
import type { Stage } from './types.ts';

type Scalar = readonly [value: string, ranges: Ranges];

/** The data of a text, a function that copies it, and its tainted parts. */
type Kept = {
  readonly data: Data;
  readonly copy: (data: Data) => Data;
  readonly scalars: readonly Scalar[];
};

/**
 * By text, then by the file name for errors and by the tainted parts. Data takes some ten times the
 * memory of its text.
 */
const cache = new TextCache<Map<string, Kept>>(16_000_000);

/** The texts that are being loaded in pieces. */
const loading = new Map<string, Promise<unknown>>();

/** Renders YAML by Salt's rules. The same text for another host is parsed once and then copied. */
export const renderYaml = (text: string, stage: Stage): Data | Promise<Data> => {
  const { request, tainted, origins } = stage;
  const { taint, yamlCache, isOneOfMany = false } = request.context;
  if (text.length >= sharedText && !(tainted && taint))
    return renderShared(text, {
      file: request.file,
      trace: traceOf(origins, request.file),
      cache: yamlCache,
    });
  const key = tainted && taint ? `${request.file}${markOf(tainted)}` : request.file;
  const known = cache.get(text)?.get(key);
  if (known) return runSteps(learned(known, request));
  const other = loading.get(text);
  if (other) return other.catch(() => undefined).then(() => renderYaml(text, stage));
  const scalars: Scalar[] = [];
  const onScalar = (...scalar: Scalar): void => void scalars.push(scalar);
  const options: YamlLoadOptions = {
    file: request.file,
    ordered: true,
    trace: traceOf(origins, request.file),
    cache: yamlCache,
    ...(tainted && taint ? { taint: { ranges: tainted, owner: taint.owner, onScalar } } : {}),
  };
  const keep = (loaded: Data): Kept => {
    const data = isTrueData(loaded) ? loaded : new Map();
    if (!isOneOfMany && !cache.isWorth(text)) return { data, copy: own => own, scalars };
    const kept: Kept = { data, copy: isTree(data) ? cloneTree : cloneData, scalars };
    const files = cache.get(text);
    if (files) files.set(key, kept);
    else cache.set(text, new Map([[key, kept]]));
    return kept;
  };
  if (text.length < pausedText) return runSteps(learned(keep(loadYaml(text, options)), request));
  const loaded = loadPaused(text, options).finally(() => loading.delete(text));
  loading.set(text, loaded);
  return loaded.then(async data => {
    const kept = keep(data);
    await ownTurn();
    return runInTurns(learned(kept, request), new Turns());
  });
};

const loadPaused = async (text: string, options: YamlLoadOptions): Promise<Data> => {
  // The template that printed the text has used a part of this turn.
  await ownTurn();
  return await loadYamlInPieces(text, options, new Turns(), pieceSize);
};

const pieceSize = 30_000;

/** Characters from which on other work runs while a text is loaded. */
const pausedText = 100_000;

/** Characters from which on the hosts share the data of a text. */
const sharedText = 1_000_000;

const renderShared = async (text: string, options: YamlLoadOptions): Promise<Data> => {
  const loaded = await loadLargeYaml(text, { ...options, ordered: true });
  return isTrueData(loaded) ? loaded : new Map();
};

/** Returns the data after recording its taint in this host's table. */
const learned = function* (
  { data, copy, scalars }: Kept,
  { context: { taint } }: Stage['request'],
): Steps<Data> {
  for (const [index, [value, ranges]] of scalars.entries()) {
    if (index % stepSize === stepSize - 1) yield;
    taint?.learn(value, ranges);
  }
  return copy(data);
};

/** Scalars that are learned in one step. */
const stepSize = 1000;

const markOf = (ranges: Ranges): string =>
  ranges.map(({ start, end, isNode }) => `\0${start}-${end}${isNode ? 'n' : ''}`).join('');
