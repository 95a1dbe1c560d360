import {
  brokenPillar,
  compilePillar,
  pillarFailure,
  pillarMessage,
} from '../../compiler/pillar.ts';
import type { SlsLoader } from '../../data/sls.ts';
import { type MergeOptions, mergeDicts, mergeRecursive } from '../../data/values/merge.ts';
import { type Data, type Dict, isDict, toPlainDict } from '../../data/values/value.ts';
import { shownPath } from '../../fileserver/shown-path.ts';
import { getOwn, type Plain, type PlainDict } from '../../protocol/plain.ts';
import { customRenderers } from '../../render/custom.ts';
import { renderValue } from '../../render/render.ts';
import type { RenderContext } from '../../render/types.ts';
import { sdbBeginningsIn, sdbUrisIn, sdbValuesIn } from '../../sdb/uri.ts';
import { matches } from '../../targeting/match.ts';
import type { PillarSettings } from '../../wrapper/context.ts';
import { pillarSettingsOf } from '../../wrapper/pillar-settings.ts';
import type { HostFacts } from '../facts/host-facts.ts';
import { renderSettings, slsLoader } from '../facts/sls-loader.ts';
import { decryptPillar } from './decrypt-pillar.ts';
import { extPillar } from './ext-pillar.ts';
import type { PillarTemplate } from './ext-pillar-source.ts';
import type { AskSource } from './source-results.ts';

/** One host's pillar, compiled on first use and kept until the run replaces it. */
export class HostPillar {
  readonly #facts: HostFacts;
  readonly #renderContext: (pillar: Dict, saltenv: string) => RenderContext;
  readonly #ask: AskSource;
  readonly #call: ((method: string, params: unknown) => Promise<Plain>) | undefined;
  #pillar: Promise<Dict> | undefined;
  /** The sdb addresses in the pillar files that were read, which are resolved for this host. */
  readonly #addresses = new Set<string>();
  /** At first those of the command line. */
  #settings: PillarSettings;

  constructor(
    facts: HostFacts,
    ask: AskSource,
    renderContext: (pillar: Dict, saltenv: string) => RenderContext,
    call?: (method: string, params: unknown) => Promise<Plain>,
  ) {
    const { kwargs, config } = facts.shared.request;
    this.#facts = facts;
    this.#ask = ask;
    this.#renderContext = renderContext;
    this.#call = call;
    this.#settings = pillarSettingsOf(kwargs, config.options);
  }

  /** This run's pillar, compiled once. */
  get = (): Promise<Dict> => {
    this.#pillar ??= this.compile(this.#settings);
    return this.#pillar;
  };

  /** Replaces the run's pillar. */
  use(pillar: Dict, settings: PillarSettings | undefined): void {
    this.#pillar = Promise.resolve(pillar);
    this.#settings = settings ?? this.#settings;
  }

  /** Compiles this run's pillar again; later templates and lookups see the new one. */
  refresh = async (): Promise<void> => {
    this.#facts.shared.pillarRoots.refresh();
    const fresh = await this.compile(this.#settings).catch(this.#logCauses);
    this.#pillar = Promise.resolve(fresh);
  };

  /**
   * A host that refreshes its pillar does not receive the causes of errors: they go to the user.
   */
  #logCauses = (error: unknown): never => {
    const { host, shared } = this.#facts;
    const problems = brokenPillar(error)?.problems;
    if (problems) {
      const message = pillarMessage(problems);
      shared.emit({ type: 'log', host: host.id, level: 'error', module: 'pillar', message });
    }
    throw error;
  };

  /**
   * Compiles the pillar; throws kind `pillar` with every error of it. The pillar of another
   * environment is merged over the host's. (`ssh_merge_pillar`)
   */
  compile = async (settings: PillarSettings): Promise<Dict> => {
    const { shared, host, grains } = this.#facts;
    if (shared.request.withoutPillar) return new Map();
    if (shared.askPillar && this.#call)
      return shared.askPillar(host.id, { grains: toPlainDict(grains), settings }, this.#call);
    const { options } = this.#facts.shared.request.config;
    const { pillarenv, saltenv } = settings;
    const anyway = pillarSettingsOf(new Map(), options);
    const isOther = pillarenv !== anyway.pillarenv || saltenv !== undefined;
    if (!isOther || options.get('ssh_merge_pillar') === false) return this.#compile(settings);
    return mergeDicts(await this.#compile(anyway), await this.#compile(settings), this.#merge);
  };

  #compile = async (settings: PillarSettings): Promise<Dict> => {
    const { host, grains, own, shared } = this.#facts;
    const { config } = shared.request;
    const pillar = settings.override ?? new Map();
    const {
      pillar: compiled,
      problems,
      top,
    } = await compilePillar({
      // As in Salt, a pillar file sees no part of the pillar that is being made, nor what the
      // command line lays over it.
      loader: this.#loader(new Map()),
      loaderWith: seen => this.#loader(seen),
      subject: {
        id: host.id,
        grains,
        pillar,
        nodegroups: config.nodegroups,
        matchers: own.matchers,
      },
      options: {
        stateTop: config.state_top,
        pillarenv: settings.pillarenv ?? config.pillarenv,
        saltenv: settings.saltenv ?? config.saltenv,
        merge: this.#merge,
        includesOverride: config.pillar_includes_override_sls,
        safeRenderError: config.options.get('pillar_safe_render_error') !== false,
        extFirst: config.ext_pillar_first,
      },
      ...(settings.override ? { override: settings.override } : {}),
      ext: config.ext_pillar.flatMap(source =>
        Object.keys(source).map(name => ({
          name,
          fetch: (below: Dict) => this.#ext([{ [name]: source[name] ?? null }], below, settings),
        })),
      ),
    });
    shared.trace?.pillarTop(top);
    if (config.options.get('pillar_opts') === true) addMaster(compiled, config.options);
    if (problems.length > 0) throw pillarFailure(problems, compiled);
    await decryptPillar(compiled, config.options, this.#facts.hasSaidWhole);
    return this.#resolveSdb(compiled);
  };

  get #merge(): MergeOptions {
    const { config } = this.#facts.shared.request;
    return {
      strategy: config.pillar_source_merging_strategy,
      renderer: config.renderer,
      mergeLists: config.pillar_merge_lists,
    };
  }

  /**
   * Replaces `sdb://` addresses by their values. An address counts if a pillar file contains it, as
   * written or as rendered for this host, and the host had no part in it. One that a template made
   * from a grain stays text, even if it becomes an address only through YAML (`"sdb:\\x2f\\x2f…"`).
   * Addresses from engines without tracking, from programs and from modules are compared with what
   * the host sent. Short grains occur in many addresses by chance, so for those only two whole
   * pieces count.
   */
  async #resolveSdb(pillar: Dict): Promise<Dict> {
    const { sdb } = this.#facts.shared.request;
    if (this.#addresses.size === 0 || !sdb.isUsed) return pillar;
    const isTainted = (uri: string): boolean =>
      this.#facts.taintOf(uri)?.some(({ isGuessed }) => !isGuessed) === true;
    const allowed = (uri: string): boolean =>
      this.#addresses.has(uri) && !isTainted(uri) && !this.#facts.hasSaid(uri);
    return (await sdb.resolve(pillar, allowed)) as Dict;
  }

  /** Returns a pillar (by default this run's) with one more source merged over it. */
  withSource = async (source: PlainDict, seen?: Dict): Promise<Dict> => {
    const pillar = seen ?? (await this.get());
    return mergeDicts(pillar, await this.#ext([source], pillar), this.#merge);
  };

  /** Returns what these sources of `ext_pillar` add to the pillar. */
  #ext = async (
    sources: readonly PlainDict[],
    pillar: Dict,
    settings: PillarSettings = this.#settings,
  ): Promise<Dict> => {
    const { host, grains, own, shared } = this.#facts;
    const { config, sdb } = shared.request;
    const { dir, nodegroups } = config;
    const pillarenv = settings.pillarenv ?? config.pillarenv;
    const subject = { id: host.id, grains, pillar, nodegroups };
    const results = await extPillar(sources, {
      id: host.id,
      pillar,
      grains,
      dir,
      pillarDirs:
        pillarenv === undefined ? undefined : (getOwn(config.pillar_roots, pillarenv) ?? []),
      render: template => this.#renderTemplate(template, pillar),
      log: (level, message) =>
        shared.emit({ type: 'log', host: host.id, level, module: 'ext_pillar', message }),
      ask: this.#ask,
      vault: () => sdb.vault(),
      nodegroups: () => Object.keys(nodegroups).filter(name => matches(name, 'nodegroup', subject)),
      own: own.sources,
    });
    return new Map(results.flatMap(({ data }) => [...data]));
  };

  #renderTemplate(
    { text, file, pipe, whitelist, blacklist }: PillarTemplate,
    pillar: Dict,
  ): Promise<Data> {
    const { request, fileRoots, pillarRoots } = this.#facts.shared;
    const settings = renderSettings(request.config);
    return renderValue({
      ...settings,
      text,
      file: shownPath(file),
      pipe: pipe ?? settings.pipe,
      ...(whitelist.length > 0 ? { whitelist } : {}),
      ...(blacklist.length > 0 ? { blacklist } : {}),
      renderers: customRenderers(fileRoots),
      saltenv: 'base',
      origin: 'user-file',
      context: { ...this.#renderContext(pillar, 'base'), files: pillarRoots },
    });
  }

  #loader(seen: Dict): SlsLoader {
    const { request, fileRoots, pillarRoots } = this.#facts.shared;
    return slsLoader(
      pillarRoots,
      saltenv => ({ ...this.#renderContext(seen, saltenv), files: pillarRoots }),
      { ...renderSettings(request.config), renderers: customRenderers(fileRoots) },
      (written, rendered) => {
        const values = new Set(sdbValuesIn(rendered));
        // Such a value may be the address as written or one that was put together.
        const beginnings = sdbBeginningsIn(written);
        for (const uri of sdbUrisIn(written))
          if (values.has(uri) && !beginnings.some(begun => uri.startsWith(begun)))
            this.#addresses.add(uri);
      },
      'pillar',
    );
  }
}

/** `pillar_opts`: as in Salt, templates find tsalt.yaml under `master`. */
const addMaster = (pillar: Dict, options: Dict): void => {
  const own = new Map([...options].filter(([key]) => key !== 'grains'));
  const given = pillar.get('master');
  pillar.set('master', isDict(given) ? mergeRecursive(own, given, false) : own);
};
