import type { Trace } from './values/position.ts';
import type { Data } from './values/value.ts';

/** One SLS after its render pipe. Keys and nodes know their places (`data/values/position.ts`). */
export type RenderedSls = {
  readonly sls: string;
  readonly saltenv: string;
  /** The file as users know it: path relative to where they work, or absolute. */
  readonly file: string;
  readonly data: Data;
  /** Where the data's positions are in the templates; absent for a text that is none. */
  readonly trace?: Trace | undefined;
};

/** How the compiler gets at SLS files: made by control, per host. */
export type SlsLoader = {
  readonly envs: () => readonly string[];
  /** The folders of an environment and whether each exists, for messages. */
  readonly folders?: (saltenv: string) => readonly SlsFolder[];
  /** Names of all SLS of an environment, dotted. */
  readonly list: (saltenv: string) => Promise<readonly string[]>;
  /** Renders one SLS; undefined when the file does not exist. Throws `TsaltError` when it does not render. */
  readonly render: (
    saltenv: string,
    sls: string,
    extra?: SlsExtra,
  ) => Promise<RenderedSls | undefined>;
};

/** A folder of `file_roots` or `pillar_roots`, absolute. */
export type SlsFolder = { readonly path: string; readonly exists: boolean };

export type SlsExtra = {
  /** Template variables: pillar includes hand defaults to what they include. */
  readonly defaults?: Data;
  /** The exact file below the roots, where a top file is meant (`alt/mytop.sls`). */
  readonly path?: string;
};
