import { mergeDicts } from '../data/values/merge.ts';
import type { Dict } from '../data/values/value.ts';
import { isDict } from '../data/values/value.ts';
import { messageOf, showLocation, TsaltError } from '../protocol/error.ts';
import type { ExtPillar, PillarInput, PillarSession } from './pillar-session.ts';
import { renderPillar } from './pillar-sls.ts';
import { type PillarTop, pillarMatches, pillarTop } from './pillar-top.ts';
import type { Problem } from './problem.ts';
import { explained, messagesOf, problem } from './problem.ts';

export type CompiledPillar = {
  /** With errors under `_errors`, as in Salt. */
  readonly pillar: Dict;
  readonly problems: readonly Problem[];
  readonly top: PillarTop;
};

/** Compiles one host's pillar. (salt.pillar.Pillar.compile_pillar) */
export const compilePillar = async (input: PillarInput): Promise<CompiledPillar> => {
  const { options, override = new Map(), ext = [] } = input;
  const session: PillarSession = {
    ...input,
    envs: input.loader.envs(),
    ignored: new Map(),
    problems: [],
    lists: new Map(),
    places: new WeakMap(),
  };
  const merge = (first: Dict, second: Dict): Dict => mergeDicts(first, second, options.merge);
  const { top, problems: topProblems } = await pillarTop(session);
  let pillar: Dict;
  if (options.extFirst) {
    const early = await addExt(session, new Map(override), ext);
    const subject = { ...input.subject, pillar: early };
    const loader = input.loaderWith?.(early) ?? input.loader;
    const matches = pillarMatches(session, top, subject);
    pillar = merge(early, await renderPillar({ ...session, loader }, matches));
  } else {
    pillar = await renderPillar(session, pillarMatches(session, top, input.subject));
    pillar = await addExt(
      session,
      override.size > 0 && ext.length > 0 ? merge(pillar, override) : pillar,
      ext,
    );
  }
  const problems = [...session.problems, ...topProblems];
  if (problems.length > 0) pillar.set('_errors', messagesOf(problems));
  if (override.size > 0) pillar = merge(pillar, override);
  return { pillar, problems, top };
};

const introduction = 'Pillar failed to render with the following messages:';

/**
 * Returns the error of a run that a broken pillar stops; `brokenPillar` reads errors and pillar
 * from it. The host may receive it, so the causes are left out (`pillarMessage`).
 */
export const pillarFailure = (
  problems: readonly Problem[],
  pillar: Dict = new Map(),
): TsaltError => {
  const places = problems.map(({ message, at }) => {
    const text = message.replace('. Please see master log for details.', '');
    return at === undefined ? text : `${text} (${showLocation(at)})`;
  });
  const error = new TsaltError('pillar-errors', [introduction, ...places].join('\n'), {
    kind: 'pillar',
  });
  failures.set(error, { pillar, problems });
  return error;
};

type BrokenPillar = Pick<CompiledPillar, 'pillar' | 'problems'>;

const failures = new WeakMap<TsaltError, BrokenPillar>();

/** Returns the message about a broken pillar for the user, with causes and excerpts. */
export const pillarMessage = (problems: readonly Problem[]): string =>
  [introduction, ...problems.map(explained)].join('\n');

/** The compiled pillar of a `pillarFailure`; undefined for any other error. */
export const brokenPillar = (error: unknown): BrokenPillar | undefined =>
  error instanceof TsaltError ? failures.get(error) : undefined;

const addExt = async (
  { options, problems }: PillarSession,
  start: Dict,
  sources: readonly ExtPillar[],
): Promise<Dict> => {
  let pillar = start;
  for (const { name, fetch } of sources)
    try {
      const data = await fetch(pillar);
      if (isDict(data) && data.size > 0) pillar = mergeDicts(pillar, data, options.merge);
    } catch (error) {
      const message = messageOf(error);
      problems.push(problem(`Failed to load ext_pillar ${name}: ${message}`, undefined));
    }
  return pillar;
};
