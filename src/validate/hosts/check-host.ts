import { type Chunk, lowChunks, statePlace } from '../../compiler/chunks.ts';
import { type Compiled, compile } from '../../compiler/compile.ts';
import { type LoadedSls, loadSls, type Matches, type SlsTree } from '../../compiler/load.ts';
import { brokenPillar } from '../../compiler/pillar.ts';
import { copyOf } from '../../compiler/place.ts';
import type { Problem } from '../../compiler/problem.ts';
import { verifyTop } from '../../compiler/top.ts';
import { renderSettings, slsLoader } from '../../control/facts/sls-loader.ts';
import type { HostAttempt } from '../../control/host/attempt.ts';
import { type ChunkFault, checkChunks, faultPlace } from '../../control/prepare/bind-chunks.ts';
import { callsOfControl } from '../../control/prepare/check-functions.ts';
import { findLost } from '../../control/prepare/lost-requisites.ts';
import { nearest } from '../../data/nearest.ts';
import { moduleName } from '../../data/signatures/module-docs.ts';
import { mayBeCalled } from '../../data/signatures/module-names.ts';
import type { RenderedSls, SlsLoader } from '../../data/sls.ts';
import { type Dict, isDict } from '../../data/values/value.ts';
import { messageOf } from '../../protocol/error.ts';
import type { LowChunk } from '../../protocol/low.ts';
import type { ModuleMeta } from '../../protocol/meta.ts';
import type { TextReads } from '../../render/types.ts';
import type { WrapperContext } from '../../wrapper/context.ts';
import { compileOptions, matchTop, readTop, type StateCallView } from '../../wrapper/state-call.ts';
import { type Finding, findingAt, findingOf, findingOfError } from '../findings.ts';
import type { AlikeHosts, HostReads } from './alike-hosts.ts';
import type { OfflinePeer } from './offline-peer.ts';

export type CheckSettings = {
  /**
   * Names what the host has in common with others: grains but for its names, and what the roster
   * adds. Undefined if nothing is known to be the same.
   */
  readonly profile?: string | undefined;
  /** The SLS to check; undefined: what the top file assigns. */
  readonly sls: readonly string[] | undefined;
  /** Refuse arguments that would be ignored. */
  readonly isStrict: boolean;
};

/** The compiled states of a host and its findings. */
export type HostCheck = {
  readonly findings: readonly Finding[];
  /** All SLS that were rendered, and the states that are compiled together, for rules. */
  readonly trees: readonly SlsTree[];
  readonly groups: readonly (readonly LowChunk[])[];
  readonly modules: readonly ModuleMeta[];
  readonly pillar: Dict;
  /** A part needs the host, so that not all of it is known. */
  readonly isPartial: boolean;
};

/** States of a host that are compiled together. */
export type CheckedTree = { readonly tree: SlsTree; readonly compiled: CompiledStates };

type CompiledStates = {
  readonly findings: readonly Finding[];
  readonly chunks: readonly LowChunk[];
};

/** A text of an SLS, and what it was read as for hosts of a profile. */
type KnownText = { readonly id: number; readonly byProfile: Map<string, RenderedSls> };

type WrittenText = KnownText & { readonly written: string };

/** Results for other hosts: documents by their rendered text, states by all of their SLS. */
export class CompileCache {
  readonly states = new Map<string, CompiledStates>();
  readonly #texts = new Map<string, Map<string, WrittenText>>();
  #next = 0;

  /**
   * The entry of a rendered text at a place. Texts of several hosts are mostly one string.
   *
   * @param written the template, which may have changed without a change of what it renders to
   */
  text(rendered: string, written: string, place: string): KnownText {
    const places = this.#texts.get(rendered) ?? new Map<string, WrittenText>();
    this.#texts.set(rendered, places);
    const before = places.get(place);
    if (before?.written === written) return before;
    const known = { id: this.#next++, byProfile: new Map<string, RenderedSls>(), written };
    places.set(place, known);
    return known;
  }
}

/**
 * Renders and compiles everything of one host as a run does, and collects all errors instead of
 * stopping at the first.
 *
 * @param attempt greeted with grains, its wire is `peer`
 */
export const checkHostStates = async (
  attempt: HostAttempt,
  peer: OfflinePeer,
  settings: CheckSettings,
  { cache, alike }: { readonly cache: CompileCache; readonly alike: AlikeHosts<CheckedTree> },
): Promise<HostCheck> => {
  const findings: Finding[] = [];
  const ctx = attempt.context();
  const pillar = await pillarOf(ctx, findings);
  // Templates that read it must not fail for its errors once more.
  attempt.pillar.use(pillar, undefined);
  const recorder = new InputRecorder();
  const { profile } = settings;
  const loader = recordingLoader(attempt, pillar, recorder, { cache, profile });
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
  for (const matches of await matchesOf(view, settings, findings)) {
    recorder.reset(matches);
    const { tree, compiled } = await alike.checked(
      { profile, matches, context: saltenv => attempt.templates.context(pillar, saltenv) },
      async () => {
        const tree = await loadSls({ matches, loader });
        const key = recorder.key();
        let compiled = key === undefined ? undefined : cache.states.get(key);
        if (!compiled) {
          compiled = compileTree(tree, ctx, settings);
          if (key !== undefined) cache.states.set(key, compiled);
        }
        return { tree, compiled, reads: recorder.reads };
      },
    );
    trees.push(tree);
    findings.push(...compiled.findings);
    groups.push(compiled.chunks);
  }
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

/** Returns groups of SLS that are compiled together: those named, those of the top file, or each SLS alone. */
const matchesOf = async (
  view: StateCallView,
  { sls }: CheckSettings,
  findings: Finding[],
): Promise<Matches[]> => {
  const env = view.saltenv ?? 'base';
  if (sls) return [new Map([[env, sls]])];
  const { top, problems, fatal } = await readTop(view);
  findings.push(...(fatal ? [fatal] : problems).map(one => findingOf('top', one)));
  if (fatal || problems.length > 0) return [];
  if (top.size === 0 && !(await hasTop(view)))
    return (await view.loader.list(env)).map(name => new Map([[env, [name]]]));
  findings.push(...verifyTop(top).map(one => findingOf('top', one)));
  try {
    const matches = matchTop(view, top);
    if (matches.size === 0)
      findings.push({
        rule: 'no-states',
        severity: 'note',
        message: `No target of ${view.ctx.config.state_top} matches ${view.ctx.id}.`,
      });
    return [matches];
  } catch (error) {
    findings.push(findingOfError('top', error));
    return [];
  }
};

const hasTop = async ({ loader, ctx }: StateCallView): Promise<boolean> => {
  const name = ctx.config.state_top.replace(/^salt:\/\//, '').replace(/\.sls$/, '');
  for (const env of loader.envs())
    if ((await loader.list(env)).includes(name.replaceAll('/', '.'))) return true;
  return false;
};

/** Collects what a tree is made of, to know another host's tree that is the same. */
class InputRecorder {
  #parts: string[] = [];
  #isWhole = true;
  #reads: HostReads | undefined;

  reset(matches: Matches): void {
    this.#parts = [JSON.stringify([...matches])];
    this.#isWhole = true;
    this.#reads = [];
  }

  /** The reads of all templates; undefined where they are not known. */
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

  /** Something has no text that could be compared. */
  give(): void {
    this.#isWhole = false;
  }

  key(): string | undefined {
    return this.#isWhole ? this.#parts.join('\0') : undefined;
  }
}

/** Ends a rendering whose text was read for another host already. */
class KnownDocument extends Error {
  rendered: RenderedSls | undefined;
}

/**
 * Renders SLS and records their texts. A text that another host of the profile had is not read
 * again: hosts of a profile differ by their names only, and so do the parts that they chose.
 */
const recordingLoader = (
  { facts, templates }: HostAttempt,
  pillar: Dict,
  recorder: InputRecorder,
  { cache, profile }: { readonly cache: CompileCache; readonly profile: string | undefined },
): SlsLoader => {
  const { request, fileRoots } = facts.shared;
  const stop = new KnownDocument();
  let place = '';
  let text: KnownText | undefined;
  const loader = slsLoader(
    fileRoots,
    saltenv => ({
      ...templates.context(pillar, saltenv),
      onReads: reads => recorder.read(saltenv, reads),
    }),
    renderSettings(request.config),
    (written, rendered) => {
      text = cache.text(rendered, written, place);
      recorder.add(String(text.id));
      stop.rendered = profile === undefined ? undefined : text.byProfile.get(profile);
      if (stop.rendered) throw stop;
    },
  );
  return {
    ...loader,
    render: async (saltenv, sls, extra) => {
      place = [saltenv, sls, extra?.path].join('\0');
      text = undefined;
      try {
        const rendered = await loader.render(saltenv, sls, extra);
        if (!rendered) recorder.add('', place);
        else if (!text) recorder.give();
        else if (profile !== undefined) (text as KnownText).byProfile.set(profile, rendered);
        return rendered;
      } catch (error) {
        if (error === stop) return stop.rendered;
        recorder.add(place, messageOf(error));
        recorder.read(saltenv, undefined);
        throw error;
      }
    },
  };
};

const compileTree = (
  tree: SlsTree,
  ctx: WrapperContext,
  { isStrict }: CheckSettings,
): CompiledStates => {
  const options = compileOptions(ctx);
  const compiled = compile(tree, { ...options, collect: 'show' });
  const findings = compiled.errors.map(one => findingOf(ruleOf(one), one));
  const isWhole = compiled.errors.length === 0;
  const chunks = lowChunks(isWhole ? compiled.chunks : sound(tree, options));
  const { faults, warnings } = checkChunks(chunks, ctx.modules, isStrict);
  const unknown = unknownFunctions(chunks, ctx.modules);
  const wrong = [...faults, ...unknown];
  const ignored = warnings.filter(({ rule }) => rule !== 'unknown-function');
  for (const [list, severity] of [
    [wrong, 'error'],
    [ignored, 'warning'],
  ] as const)
    for (const fault of list) {
      const { rule, message, chunk, isSlip } = fault;
      const hint = isSlip ? '`- lax: true` on the state accepts it as it is.' : undefined;
      const sentence = `${message}, in ID '${chunk.__id__}' of SLS '${chunk.__sls__}'`;
      const finding = { rule, severity, message: sentence, ...(hint ? { hint } : {}) };
      findings.push(findingAt(finding, faultPlace(fault)));
    }
  for (const chunk of chunks)
    for (const fun of callsOfControl(chunk, ctx.modules))
      findings.push(
        findingAt(
          {
            rule: 'control-function',
            severity: 'error',
            message: `'${fun}' lives on the control node and cannot be called by a state, in ID '${chunk.__id__}' of SLS '${chunk.__sls__}'`,
          },
          statePlace(chunk),
        ),
      );
  if (isWhole)
    for (const { message, at } of findLost(chunks))
      findings.push(findingAt({ rule: 'lost-requisite', severity: 'warning', message }, at));
  return { findings, chunks };
};

/** States that fail on every host: no module, of the user's neither, has their function. */
const unknownFunctions = (
  chunks: readonly LowChunk[],
  modules: readonly ModuleMeta[],
): ChunkFault[] => {
  const states = modules.filter(({ kind, broken }) => kind === 'state' && broken === undefined);
  const names = new Set(
    states.flatMap(module =>
      [moduleName(module), ...(module.virtual ?? [])].flatMap(name =>
        module.functions.map(fun => `${name}.${fun.name}`),
      ),
    ),
  );
  const isOpen = (chunk: LowChunk): boolean =>
    modules.some(
      module =>
        module.kind === 'state' &&
        !module.builtin &&
        mayBeCalled(module, chunk.state) &&
        (module.dynamic === true ||
          module.broken !== undefined ||
          module.functions.some(fun => fun.name === chunk.fun)),
    );
  return chunks
    .filter(chunk => !names.has(`${chunk.state}.${chunk.fun}`) && !isOpen(chunk))
    .map(chunk => {
      const name = `${chunk.state}.${chunk.fun}`;
      const meant = nearest(name, names);
      const hint = meant === undefined ? '' : ` (did you mean '${meant}'?)`;
      return {
        rule: 'unknown-function',
        message: `There is no state function '${name}'${hint}`,
        chunk,
      };
    });
};

const ruleOf = ({ message }: Problem): string => {
  if (/^Rendering SLS /.test(message)) return 'render';
  if (/is not available on the salt master|No matching sls found/.test(message))
    return 'missing-sls';
  return 'compile';
};

/** The chunks of all IDs that compile by themselves, where the whole does not. */
const sound = (tree: SlsTree, options: object): Chunk[] => {
  const chunks: Chunk[] = [];
  for (const { loaded, ...root } of tree)
    for (const one of 'sls' in loaded ? allOf(loaded) : []) {
      if (one.data === undefined || !isDict(one.data)) continue;
      for (const id of one.data.keys()) {
        if (id === 'include' || id === 'exclude' || id === 'extend') continue;
        const data = copyOf(one.data);
        for (const other of one.data.keys()) if (other !== id) data.delete(other);
        const alone = { ...one, data, includes: [], includeProblems: [] };
        const compiled: Compiled = compile([{ ...root, loaded: alone }], options);
        if (compiled.errors.length === 0) chunks.push(...compiled.chunks);
      }
    }
  return chunks;
};

/** An SLS and all that it includes. */
const allOf = (loaded: LoadedSls): LoadedSls[] => [
  ...loaded.includes.flatMap(one => ('sls' in one ? allOf(one) : [])),
  loaded,
];

/**
 * Turns gaps that only the host can fill into notes. Errors that such a gap may cause are left out: the SLS that could
 * not be rendered may have the state that is missing.
 */
const withoutConsequences = (findings: readonly Finding[], { needed }: OfflinePeer): Finding[] =>
  findings.flatMap(finding => {
    const message = [...needed].find(text => finding.message.includes(text));
    if (message !== undefined)
      return [{ ...finding, rule: 'needs-host', severity: 'note' as const }];
    const isConsequence =
      finding.rule === 'lost-requisite' || /^Cannot extend (ID|state)/.test(finding.message);
    return isConsequence ? [] : [finding];
  });
