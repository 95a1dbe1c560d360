/** The types of what modules of each kind export. */
import type { LowChunk } from '../protocol/low.ts';
import type { Plain, PlainDict } from '../protocol/plain.ts';
import type { StateResults, StateReturn } from '../protocol/result.ts';

// biome-ignore lint/suspicious/noExplicitAny: settings and data are those of the user
type Any = any;

type MaybeLater<T> = T | Promise<T>;

/**
 * `render` of `_renderers/NAME.ts`.
 *
 * @param data the text of the file, or the data of the renderer before this one
 */
export type RendererFunction = (data: Any, ...more: Any[]) => unknown;

/**
 * `output` of `_outputters/NAME.ts`: returns the text for `--out NAME`.
 *
 * @param data the returns of the hosts, by id
 */
export type OutputterFunction = (
  data: { readonly [host: string]: Any },
  options: { readonly [name: string]: Any },
) => string;

/** The host that a matcher is asked about. */
export type MatchedHost = {
  readonly id: string;
  readonly grains: PlainDict;
  readonly pillar: PlainDict;
  /** The separator of the keys of nested grains: `:`. */
  readonly delimiter: string;
};

/** `match` of `_matchers/NAME_match.ts`: returns at once whether a target of the top file fits a host. */
export type MatcherFunction = (target: Any, host: MatchedHost) => boolean;

/**
 * `ext_pillar` of `_pillar/NAME.ts`: returns pillar data that is merged into the host's pillar.
 *
 * @param pillar the pillar of the host so far
 * @param settings a list of settings as arguments; anything else as one
 */
export type ExtPillarFunction = (
  id: string,
  pillar: PlainDict,
  ...settings: Any[]
) => MaybeLater<PlainDict>;

/** The argument of a contract of `_contracts/NAME.ts`. */
export type ContractCall = {
  /** `my_cloud.my_resource` */
  readonly module: string;
  readonly fun: string;
  /** `pre` may change them. */
  readonly args: unknown[];
  /** Calls the function itself with `args`. */
  readonly call: () => Promise<unknown>;
  /** In `post`: the function's result. */
  readonly ret?: unknown;
};

/** `pre`, `call`, `post` and their forms for one function, `pre_get`: `post` may return another result. */
export type ContractFunction = (contract: ContractCall) => unknown;

/** `mod_init` of a state module: runs before its first state, until it returns true. */
export type ModInit = (low: LowChunk) => MaybeLater<boolean>;

/**
 * `mod_watch` of a state module: runs after a watched state has made changes. `sfun` is the state's
 * function; the other options are the state's own.
 */
export type ModWatch = (
  name: string,
  options: { sfun: string; [option: string]: Any },
) => MaybeLater<StateReturn>;

/**
 * `mod_aggregate` of a state module: returns the chunk with the work of later chunks in it.
 *
 * @param running the results so far, by tag
 */
export type ModAggregate = (
  low: LowChunk,
  chunks: readonly LowChunk[],
  running: StateResults,
) => MaybeLater<LowChunk>;

/** A part of a state's return in `sub_state_run`: a result of its own. */
export type SubStateRun = {
  changes: PlainDict;
  result?: boolean | null;
  comment?: string | string[];
  name?: string;
  /** In place of `name`: the chunk of another tool's run. */
  low?: PlainDict;
  /** Milliseconds. */
  duration?: number;
  [extra: string]: Plain | undefined;
};
