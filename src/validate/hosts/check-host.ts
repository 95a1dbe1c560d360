import { loadSls, type Matches, type SlsLoadOptions, type SlsTree } from '../../compiler/load.ts';
import { brokenPillar } from '../../compiler/pillar.ts';
import { assignedAt, topMatches, verifyTop } from '../../compiler/top.ts';
import { renderSettings, slsLoader } from '../../control/facts/sls-loader.ts';
import type { HostAttempt } from '../../control/host/attempt.ts';
import type { RenderedSls, SlsLoader } from '../../data/sls.ts';
import type { Dict } from '../../data/values/value.ts';
import { messageOf } from '../../protocol/error.ts';
import type { LowChunk } from '../../protocol/low.ts';
import type { ModuleMeta } from '../../protocol/meta.ts';
import type { TextReads } from '../../render/types.ts';
import type { WrapperContext } from '../../wrapper/context.ts';
import { matchTop, readTop, type StateCallView } from '../../wrapper/state-call.ts';
import { type Finding, findingOf, findingOfError } from '../findings.ts';
import type { AlikeHosts, HostReads } from './alike-hosts.ts';
import type { CheckedText, CheckTrace } from './check-trace.ts';
import type { CompileCache, KnownText } from './compile-cache.ts';
import { type CompiledStates, compileTree } from './compile-tree.ts';
import type { OfflinePeer } from './offline-peer.ts';

export type CheckSettings = {
  /**
   * Identifies what the host shares with others: grains except its names, and the roster's
   * additions. Undefined if nothing is known to be equal.
   */
  readonly profile?: string | undefined;
  /** The SLS to check; undefined: those that the top file assigns. */
  readonly sls: readonly string[] | undefined;
  /** Refuse arguments that would be ignored. */
  readonly isStrict: boolean;
  /** Names the host among those of a check that is repeated; undefined in one that is not. */
  readonly repeated?: string | undefined;
};

/** The compiled states of a host and its findings. */
export type HostCheck = {
  readonly findings: readonly Finding[];
  /** All rendered SLS, and the states that are compiled together, for rules. */
  readonly trees: readonly SlsTree[];
  readonly groups: readonly (readonly LowChunk[])[];
  readonly modules: readonly ModuleMeta[];
  readonly pillar: Dict;
  /** A part needs the host, so the result is incomplete. */
  readonly isPartial: boolean;
};

/** States of a host that are compiled together. */
export type CheckedTree = { readonly tree: SlsTree; readonly compiled: CompiledStates };

/** Keeps results of other hosts, and records the reads of this one. */
export type CheckMemory = {
  readonly cache: CompileCache;
  readonly alike: AlikeHosts<CheckedTree>;
  readonly trace: CheckTrace;
};

/**
 * Renders and compiles everything of one host as a run does, and collects all errors instead of
 * stopping at the first.
 *
 * @param attempt an attempt with grains, whose wire is `peer`
 */
export const checkHostStates = async (
  attempt: HostAttempt,
  peer: OfflinePeer,
  settings: CheckSettings,
  { cache, alike, trace }: CheckMemory,
): Promise<HostCheck> => {
  const findings: Finding[] = [];
  const ctx = attempt.context();
  const pillar = await pillarOf(ctx, findings);
  // The reads of a template that failed are not known.
  if (findings.length > 0) trace.isSingular = true;
  // Templates that read it must not fail for its errors once more.
  attempt.pillar.use(pillar, undefined);
  const recorder = new InputRecorder();
  const { profile, repeated } = settings;
  const loader = recordingLoader(attempt, pillar, recorder, { cache, profile, trace, repeated });
  const view: StateCallView = {
    ctx,
    named: new Map(),
    saltenv: ctx.config.saltenv,
    pillar,
    pillarSettings: {},
    opts: new Map(),
    loader,
    test: true,
  };
  const trees: SlsTree[] = [];
  const groups: (readonly LowChunk[])[] = [];
  const compiledTrees: CheckedTree[] = [];
  const { groups: asked, placeOf } = await matchesOf(view, settings, { findings, trace });
  for (const matches of asked) {
    recorder.reset(matches);
    let isRendered = false;
    const { tree, compiled } = await alike.checked(
      { profile, matches, context: saltenv => attempt.templates.context(pillar, saltenv) },
      async () => {
        isRendered = true;
        const tree = await loadSls({ matches, loader, placeOf });
        const key = recorder.key();
        let compiled = key === undefined ? undefined : cache.states.get(key);
        if (!compiled) {
          compiled = compileTree(tree, ctx, settings);
          if (key !== undefined) cache.states.set(key, compiled);
        }
        return { tree, compiled, reads: recorder.reads };
      },
    );
    if (!isRendered) trace.isSingular = true;
    trees.push(tree);
    compiledTrees.push({ tree, compiled });
    groups.push(compiled.chunks);
  }
  findings.push(...findingsOf(compiledTrees));
  const isPartial = peer.needed.size > 0;
  return {
    findings: isPartial ? withoutConsequences(findings, peer) : findings,
    trees,
    groups,
    modules: ctx.modules,
    pillar,
    isPartial,
  };
};

/**
 * The findings of all groups. Without a top file each SLS is a group: one that others include may
 * need their states, and is not meant to work alone.
 */
const findingsOf = (all: readonly CheckedTree[]): Finding[] => {
  const parts = new Set(all.length > 1 ? all.flatMap(({ tree }) => includedIn(tree)) : []);
  return all.flatMap(({ tree, compiled: { findings } }) => {
    const isPart = tree.every(({ loaded }) => 'sls' in loaded && parts.has(loaded.sls));
    return isPart ? findings.filter(one => !needsOthers(one)) : findings;
  });
};

const includedIn = (tree: SlsTree): string[] => {
  const within = (loaded: SlsTree[number]['loaded']): string[] =>
    'sls' in loaded ? [loaded.sls, ...loaded.includes.flatMap(within)] : [];
  return tree.flatMap(({ loaded }) => ('sls' in loaded ? loaded.includes.flatMap(within) : []));
};

/** Whether a state that another SLS has would mend it. */
const needsOthers = ({ rule, message }: Finding): boolean =>
  rule === 'lost-requisite' || /^Cannot extend (ID|state)/.test(message);

const pillarOf = async (ctx: WrapperContext, findings: Finding[]): Promise<Dict> => {
  try {
    return await ctx.pillar();
  } catch (error) {
    const broken = brokenPillar(error);
    if (!broken) {
      findings.push(findingOfError('pillar', error));
      return new Map();
    }
    findings.push(...broken.problems.map(one => findingOf('pillar', one)));
    return broken.pillar;
  }
};

/** Groups of SLS that are compiled together, and where a top file names them. */
type AskedSls = Pick<SlsLoadOptions, 'placeOf'> & { readonly groups: readonly Matches[] };

/** Returns the SLS that are named, those of the top file, or each SLS alone. */
const matchesOf = async (
  view: StateCallView,
  { sls }: CheckSettings,
  { findings, trace }: { readonly findings: Finding[]; readonly trace: CheckTrace },
): Promise<AskedSls> => {
  const env = view.saltenv ?? 'base';
  if (sls) return { groups: [new Map([[env, sls]])] };
  const { top, problems, fatal } = await readTop(view);
  findings.push(...(fatal ? [fatal] : problems).map(one => findingOf('top', one)));
  if (fatal || problems.length > 0) return { groups: [] };
  if (top.size === 0 && !(await hasTop(view)))
    return { groups: (await view.loader.list(env)).map(name => new Map([[env, [name]]])) };
  findings.push(...verifyTop(top).map(one => findingOf('top', one)));
  try {
    const matches = matchTop(view, top);
    const { saltenv } = view;
    const envs = view.loader.envs();
    trace.assigned = subject => topMatches(top, subject, { saltenv, envs });
    if (matches.size === 0)
      findings.push({
        rule: 'no-states',
        severity: 'note',
        message: `No target of ${view.ctx.config.state_top} matches ${view.ctx.id}.`,
      });
    return { groups: [matches], placeOf: (saltenv, name) => assignedAt(top, saltenv, name) };
  } catch (error) {
    findings.push(findingOfError('top', error));
    return { groups: [] };
  }
};

const hasTop = async ({ loader, ctx }: StateCallView): Promise<boolean> => {
  const name = ctx.config.state_top.replace(/^salt:\/\//, '').replace(/\.sls$/, '');
  for (const env of loader.envs())
    if ((await loader.list(env)).includes(name.replaceAll('/', '.'))) return true;
  return false;
};

/** Records the inputs of a tree, to recognise an equal tree of another host. */
class InputRecorder {
  #parts: string[] = [];
  #isWhole = true;
  #reads: HostReads | undefined;

  reset(matches: Matches): void {
    this.#parts = [JSON.stringify([...matches])];
    this.#isWhole = true;
    this.#reads = [];
  }

  /** Returns the reads of all templates; undefined if they are not known. */
  get reads(): HostReads | undefined {
    return this.#reads;
  }

  read(saltenv: string, reads: TextReads | undefined): void {
    if (reads && this.#reads) this.#reads.push({ saltenv, reads });
    else this.#reads = undefined;
  }

  add(...parts: string[]): void {
    this.#parts.push(...parts);
  }

  /** Gives up: something has no text that could be compared. */
  give(): void {
    this.#isWhole = false;
  }

  key(): string | undefined {
    return this.#isWhole ? this.#parts.join('\0') : undefined;
  }
}

/** Ends a rendering whose text was already parsed for another host. */
class KnownDocument extends Error {
  rendered: RenderedSls | undefined;
}

/**
 * Renders SLS and records their texts. A text that another host of the profile had is not parsed
 * again: hosts of a profile differ only by their names, and so do the parts that they chose.
 */
const recordingLoader = (
  { facts, templates }: HostAttempt,
  pillar: Dict,
  recorder: InputRecorder,
  {
    cache,
    profile,
    trace,
    repeated,
  }: Pick<CheckMemory, 'cache' | 'trace'> & Pick<CheckSettings, 'profile' | 'repeated'>,
): SlsLoader => {
  const { request, fileRoots } = facts.shared;
  const read = [facts.grains, pillar, facts.templateOpts];
  const unchanged =
    repeated === undefined ? undefined : cache.unchanged.of(repeated, read, fileRoots);
  const stop = new KnownDocument();
  let place = '';
  let text: KnownText | undefined;
  let checked: CheckedText | undefined;
  let last: (TextReads | undefined)[] = [];
  const loader = slsLoader(
    fileRoots,
    saltenv => ({
      ...templates.context(pillar, saltenv),
      onReads: reads => {
        last.push(reads);
        recorder.read(saltenv, reads);
      },
    }),
    renderSettings(request.config),
    (written, rendered) => {
      text = cache.text({ rendered, written, place, imported: importedBy(last) });
      checked = { place, written, rendered, reads: last };
      trace.states.push(checked);
      recorder.add(String(text.id));
      stop.rendered = profile === undefined ? undefined : text.byProfile.get(profile);
      if (stop.rendered) throw stop;
    },
  );
  const keep = (rendered: RenderedSls | undefined): void => {
    if (rendered && checked) unchanged?.add(place, { text: checked, rendered });
  };
  return {
    ...loader,
    render: async (saltenv, sls, extra) => {
      place = [saltenv, sls, extra?.path].join('\0');
      const known = extra === undefined ? unchanged?.find(place) : undefined;
      if (extra?.path !== undefined) unchanged?.addTop(extra.path, saltenv);
      if (known) {
        trace.states.push(known.text);
        recorder.add(
          String(cache.text({ ...known.text, imported: importedBy(known.text.reads) }).id),
        );
        for (const reads of known.text.reads) recorder.read(saltenv, reads);
        return known.rendered;
      }
      text = undefined;
      checked = undefined;
      last = [];
      try {
        const rendered = await loader.render(saltenv, sls, extra);
        keep(rendered);
        // The hint of a missing SLS names one that is there.
        if (!rendered) recorder.add('', place, ...(await loader.list(saltenv)));
        else if (!text) recorder.give();
        else if (profile !== undefined) (text as KnownText).byProfile.set(profile, rendered);
        return rendered;
      } catch (error) {
        if (error === stop) {
          keep(stop.rendered);
          return stop.rendered;
        }
        recorder.add(place, messageOf(error));
        trace.isSingular = true;
        recorder.read(saltenv, undefined);
        throw error;
      }
    },
  };
};

/** The texts of the files that templates imported; undefined if they are not known. */
const importedBy = (reads: readonly (TextReads | undefined)[]): readonly string[] | undefined => {
  const files: string[] = [];
  for (const one of reads) {
    if (one === undefined) return undefined;
    files.push(...one.roots.files);
  }
  return files;
};

/**
 * Converts gaps that only the host can fill into notes. Removes errors that such a gap may cause:
 * an SLS that could not be rendered may contain the missing state.
 */
const withoutConsequences = (findings: readonly Finding[], { needed }: OfflinePeer): Finding[] =>
  findings.flatMap(finding => {
    const message = [...needed].find(text => finding.message.includes(text));
    if (message !== undefined)
      return [{ ...finding, rule: 'needs-host', severity: 'note' as const }];
    return needsOthers(finding) ? [] : [finding];
  });
