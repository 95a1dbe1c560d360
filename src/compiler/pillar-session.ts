import type { SlsLoader } from '../data/sls.ts';
import type { MergeOptions } from '../data/values/merge.ts';
import type { Data, Dict } from '../data/values/value.ts';
import type { SourceLocation } from '../protocol/error.ts';
import type { Subject } from '../targeting/match.ts';
import type { Problem } from './problem.ts';

type PillarOptions = {
  /** `state_top`: pillar has its own top file of that name. */
  readonly stateTop: string;
  /** Only this environment. */
  readonly pillarenv?: string | undefined;
  readonly saltenv?: string | undefined;
  readonly merge: MergeOptions;
  /** `pillar_includes_override_sls`: included values override the including file. */
  readonly includesOverride: boolean;
  /** `pillar_safe_render_error`: keeps template errors out of the pillar. */
  readonly safeRenderError: boolean;
  /** `ext_pillar_first`. */
  readonly extFirst: boolean;
};

/** One configured `ext_pillar` source: returns data for the pillar so far. */
export type ExtPillar = {
  readonly name: string;
  readonly fetch: (pillar: Dict) => Promise<Data>;
};

export type PillarInput = {
  readonly loader: SlsLoader;
  /**
   * Makes a loader that renders the same SLS with this pillar, the result of `ext_pillar_first`.
   */
  readonly loaderWith?: ((pillar: Dict) => SlsLoader) | undefined;
  /**
   * The host; `pillar` targets in the pillar's top file match its `pillar` (that of the command
   * line).
   */
  readonly subject: Subject;
  readonly options: PillarOptions;
  /** `pillar={…}` of the command line: overrides everything. */
  readonly override?: Dict | undefined;
  readonly ext?: readonly ExtPillar[] | undefined;
};

/** The compilation of one host's pillar. */
export type PillarSession = PillarInput & {
  readonly envs: readonly string[];
  /** SLS that may be missing according to the top file, by environment. */
  readonly ignored: Map<string, Set<string>>;
  readonly problems: Problem[];
  readonly lists: Map<string, readonly string[]>;
  /** For each list of SLS in the merged top files: where it names an SLS. */
  readonly places: WeakMap<readonly Data[], (sls: string) => SourceLocation | undefined>;
};

export const isEnv = ({ envs }: PillarSession, env: string): boolean =>
  envs.includes(env) || envs.includes('__env__');

/** Returns the SLS names of an environment; undefined if the environment does not exist. */
export const asStringList = async (
  session: PillarSession,
  env: string,
): Promise<readonly string[] | undefined> => {
  if (!isEnv(session, env)) return undefined;
  const known = session.lists.get(env);
  if (known) return known;
  const list = await session.loader.list(env);
  session.lists.set(env, list);
  return list;
};
