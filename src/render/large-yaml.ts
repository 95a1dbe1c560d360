import { copyOnUse } from '../data/values/shared-dict.ts';
import type { Data } from '../data/values/value.ts';
import { boundHeap } from '../memory/collect-garbage.ts';
import { Turns } from '../protocol/turns.ts';
import { loadYamlInPieces } from '../yaml/load.ts';
import type { YamlLoadOptions } from '../yaml/yaml-error.ts';

type Kept = {
  readonly text: string;
  readonly file: string | undefined;
  readonly data: Promise<Data>;
};

/** Milliseconds after which the data of a text is dropped if no host asked for it. */
const keptFor = 30_000;
const timers = new Map<Kept, NodeJS.Timeout>();

/**
 * Loads a large text of YAML once for all hosts of a run and lets other work run meanwhile. Each
 * host gets a copy that is made of the parts that it reads.
 *
 * @throws TsaltError as `loadYaml`
 */
export const loadLargeYaml = async (text: string, options: YamlLoadOptions): Promise<Data> => {
  const known = [...timers.keys()].find(kept => kept.file === options.file && kept.text === text);
  const kept = known ?? { text, file: options.file, data: load(text, options) };
  keep(kept);
  try {
    return copyOnUse(await kept.data);
  } catch (error) {
    drop(kept);
    throw error;
  }
};

const load = (text: string, options: YamlLoadOptions): Promise<Data> => {
  boundHeap();
  return loadYamlInPieces(text, options, new Turns());
};

const keep = (kept: Kept): void => {
  clearTimeout(timers.get(kept));
  timers.set(kept, setTimeout(() => drop(kept), keptFor).unref());
};

const drop = (kept: Kept): void => {
  clearTimeout(timers.get(kept));
  timers.delete(kept);
};
