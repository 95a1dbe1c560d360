import type { Ranges } from '../../data/taint.ts';
import { type Dict, toDict } from '../../data/values/value.ts';
import { WatchedDict } from '../../data/values/watched-dict.ts';
import type { Artifact } from '../../protocol/artifact.ts';
import type { Host } from '../../protocol/host.ts';
import type { HostOpts } from '../../protocol/job.ts';
import type { ModuleMeta } from '../../protocol/meta.ts';
import type { Plain, PlainDict } from '../../protocol/plain.ts';
import { TaintTable } from '../../render/taint/taint-table.ts';
import { hostOpts, templateOpts } from './host-opts.ts';
import type { Shared } from './shared.ts';
import { noUserModules, type UserModules } from './user-modules.ts';

/**
 * A grain that each run of states reads. It comes from the grains file of a host: a host with such a
 * file always sends its grains.
 */
const disabling = 'state_runs_disabled';

const noGrains: Dict = new Map();

const onHost: ReadonlySet<string> = new Set(['exec', 'state', 'utils', 'contracts']);

/** One host as the control node knows it: its roster entry, options, grains and modules. */
export class HostFacts {
  readonly shared: Shared;
  readonly host: Host;
  readonly opts: HostOpts;
  #watched: WatchedDict | undefined;
  #modules: readonly ModuleMeta[] = [];
  #own = noUserModules;
  #templateOpts: Dict | undefined;
  readonly #said: (Plain | PlainDict)[] = [];
  #text = '';
  /** The strings that this host sent, and those made from them. */
  readonly taint: TaintTable;

  constructor(shared: Shared, host: Host) {
    const { config, options } = shared.request;
    this.shared = shared;
    this.host = host;
    this.opts = hostOpts(config, host, { test: options.test });
    this.taint = new TaintTable(host.id);
  }

  /**
   * Returns the parts of a string that this host chose, because it sent them or because they were
   * made from what it sent. Call it before a string chooses a file, an engine or an address;
   * `choosesOnlyNames` of `data/taint.ts` decides about paths.
   *
   * @param text for example an argument of a compiled chunk
   * @returns the tainted parts in order; `undefined` where all of the text is clean
   */
  taintOf(text: string): Ranges | undefined {
    return this.taint.of(text);
  }

  get grains(): Dict {
    return this.#watched ?? noGrains;
  }

  /** Sets the grains: the host's own, overridden by those of roster and configuration. */
  learnGrains(grains: PlainDict): void {
    const all = this.#all(grains);
    // Templates that have read none keep the object.
    const isSettled = !this.hasReadGrains && this.#watched?.settle(all);
    this.#hearGrains(grains, (isSettled && this.#watched) || this.#watch(all));
  }

  /** Assumes these grains until the host has answered. */
  suppose(grains: PlainDict): void {
    this.#hearGrains(grains, this.#watch(this.#all(grains)));
  }

  /**
   * Compares the assumed grains with the real ones. @returns whether all grains that were read are
   * right
   */
  confirm(grains: PlainDict): boolean {
    if (!this.#watched) return false;
    this.#hearGrains(grains, this.#watched);
    return this.#watched.settle(this.#all(grains));
  }

  /** Whether something has read a grain that only the host knows. */
  get hasReadGrains(): boolean {
    return this.#watched?.hasRead !== false;
  }

  /**
   * Continues without the host's grains: until they are learned, reading one throws.
   *
   * @returns false if a grain was already read: then nothing is changed
   */
  leaveGrains(): boolean {
    if (this.hasReadGrains) return false;
    this.#watched?.close();
    return true;
  }

  #watch(grains: Dict): WatchedDict {
    const given = ['id', ...Object.keys((this.opts.grains as PlainDict | undefined) ?? {})];
    const known = new Set(grains.has(disabling) ? given : [...given, disabling]);
    this.#watched = new WatchedDict(grains, known);
    return this.#watched;
  }

  #all(grains: PlainDict): Dict {
    return toDict({ ...grains, ...(this.opts.grains as PlainDict), id: this.host.id });
  }

  /**
   * Taints the host's own grains, once something has read one. Those of roster and configuration
   * replace them, and are clean.
   */
  #hearGrains(grains: PlainDict, watched: WatchedDict): void {
    this.#said.push(grains);
    const given = this.opts.grains as PlainDict | undefined;
    const hear = (): void => {
      for (const [name, value] of Object.entries(grains)) {
        if (name === 'id' || (given && Object.hasOwn(given, name))) continue;
        const source = `grain "${name}"`;
        this.taint.hear(name, source);
        this.taint.hear(value, source);
      }
    };
    this.taint.hearOnceUsed(() => watched.hasRead, hear);
  }

  /** Taints the result of a call to the host. */
  hear(said: Plain, fun: string): void {
    this.#said.push(said);
    this.taint.hear(said, `result of ${fun}`);
  }

  /** Has the host sent this string in one piece? */
  hasSaidWhole = (text: string): boolean => this.#heard().includes(text);

  /**
   * Has the host sent this string, in one piece or in two that a template may have joined? Such a
   * string must not choose which secret the host receives.
   */
  hasSaid(text: string): boolean {
    const heard = this.#heard();
    // If it sent a prefix, it also sent every shorter prefix.
    let [begun, most] = [0, text.length];
    while (begun < most) {
      const middle = Math.ceil((begun + most) / 2);
      if (heard.includes(text.slice(0, middle))) begun = middle;
      else most = middle - 1;
    }
    return begun > 0 && heard.includes(text.slice(begun));
  }

  /**
   * All that the host sent, as one string. Made on first use: most runs have no secret that it
   * could choose.
   */
  #heard(): string {
    if (this.#said.length > 0)
      this.#text += this.#said
        .splice(0)
        .map(said => `${JSON.stringify(said)}\n`)
        .join('');
    return this.#text;
  }

  /** Sets the artifact's modules, for docs and argument checks, and those of the control node. */
  learnModules(artifact: Artifact, own: UserModules): void {
    this.#modules = artifact.modules;
    this.#own = own;
  }

  get modules(): readonly ModuleMeta[] {
    return this.#modules;
  }

  /** The user's modules that run on the host: they may compute sources and variables. */
  get ownOnHost(): readonly ModuleMeta[] {
    return this.#modules.filter(({ builtin, kind }) => !builtin && onHost.has(kind));
  }

  /** The user's modules that the runtime may load, those that collect grains included. */
  get loaded(): readonly ModuleMeta[] {
    return this.#modules.filter(
      ({ builtin, kind }) => !builtin && (kind === 'grains' || onHost.has(kind)),
    );
  }

  /** The user's modules that work on the control node. */
  get own(): UserModules {
    return this.#own;
  }

  /** `opts` in templates. Made once: a run may render hundreds of them. */
  get templateOpts(): Dict {
    this.#templateOpts ??= templateOpts(this.shared.request.config, this.opts);
    return this.#templateOpts;
  }
}
