import type { Matches } from '../../compiler/load.ts';
import type { RenderContext, TextReads } from '../../render/types.ts';

/** The reads of the templates of one host, with the environments of the templates. */
export type HostReads = { readonly saltenv: string; readonly reads: TextReads }[];

/** A host whose states are checked. */
type AlikeHost = {
  /** Undefined if nothing is known to equal other hosts. */
  readonly profile: string | undefined;
  readonly matches: Matches;
  readonly context: (saltenv: string) => RenderContext;
};

type Kept<Result> = { readonly reads: HostReads; readonly result: Result };

/** Limit of results for one profile and list of SLS. */
const mostKept = 8;

/**
 * Results of hosts during one check. A host of the same profile with the same SLS, whose templates
 * would all read the same values, has the same states: they are neither rendered nor compiled
 * again.
 */
export class AlikeHosts<Result> {
  readonly #kept = new Map<string, Kept<Result>[]>();

  /** @param check renders and compiles, and returns its result with the recorded reads */
  async checked(
    { profile, matches, context }: AlikeHost,
    check: () => Promise<Result & { readonly reads: HostReads | undefined }>,
  ): Promise<Result> {
    if (profile === undefined) return check();
    const key = JSON.stringify([profile, [...matches]]);
    const kept = this.#kept.get(key) ?? [];
    for (const one of kept) if (await isSame(one.reads, context)) return one.result;
    const result = await check();
    if (result.reads && kept.length < mostKept)
      this.#kept.set(key, [...kept, { reads: distinct(result.reads), result }]);
    return result;
  }
}

const isSame = async (all: HostReads, context: AlikeHost['context']): Promise<boolean> => {
  const contexts = new Map<string, RenderContext>();
  for (const { saltenv, reads } of all) {
    const own = contexts.get(saltenv) ?? context(saltenv);
    contexts.set(saltenv, own);
    if (!(await reads.isSameFor(own))) return false;
  }
  return true;
};

/** Removes duplicate reads, so that each is compared once. */
const distinct = (all: HostReads): HostReads => [
  ...new Map(all.map(one => [`${one.saltenv}\0${one.reads.key}`, one])).values(),
];
