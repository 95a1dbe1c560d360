import type { Trace } from './values/position.ts';
import type { Data } from './values/value.ts';

/** One rendered SLS. Keys and nodes know their positions (`data/values/position.ts`). */
export type RenderedSls = {
  readonly sls: string;
  readonly saltenv: string;
  /** The file as users know it: relative to their working folder, or absolute. */
  readonly file: string;
  readonly data: Data;
  /** Maps the data's positions to the templates; absent for plain text. */
  readonly trace?: Trace | undefined;
};

/** Loads SLS files; made by the control node for each host. */
export type SlsLoader = {
  readonly envs: () => readonly string[];
  /** The folders of an environment and whether each exists, for messages. */
  readonly folders?: (saltenv: string) => readonly SlsFolder[];
  /** Names of all SLS of an environment, dotted. */
  readonly list: (saltenv: string) => Promise<readonly string[]>;
  /**
   * Renders one SLS; undefined if the file does not exist. Throws `TsaltError` if rendering fails.
   */
  readonly render: (
    saltenv: string,
    sls: string,
    extra?: SlsExtra,
  ) => Promise<RenderedSls | undefined>;
};

/** A folder of `file_roots` or `pillar_roots`, absolute. */
export type SlsFolder = { readonly path: string; readonly exists: boolean };

export type SlsExtra = {
  /** Template variables: pillar includes pass defaults to the files that they include. */
  readonly defaults?: Data;
  /** The exact file below the roots, for a top file (`alt/mytop.sls`). */
  readonly path?: string;
};
