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
import { noOwnModules, type OwnModules } from './own-modules.ts';
import type { Shared } from './shared.ts';

const onHost: ReadonlySet<string> = new Set(['exec', 'state', 'utils', 'contracts']);

/** What the control node knows of one host: its roster entry, options, grains and modules. */
export class HostFacts {
  readonly shared: Shared;
  readonly host: Host;
  readonly opts: HostOpts;
  #grains: Dict = new Map();
  #modules: readonly ModuleMeta[] = [];
  #own = noOwnModules;
  #templateOpts: Dict | undefined;
  readonly #said: (Plain | PlainDict)[] = [];
  #text = '';
  /** What this host sent and what was made of it. */
  readonly taint: TaintTable;

  constructor(shared: Shared, host: Host) {
    const { config, options } = shared.request;
    this.shared = shared;
    this.host = host;
    this.opts = hostOpts(config, host, { test: options.test });
    this.taint = new TaintTable(host.id);
  }

  /**
   * The parts of a text that this host chose: it sent them, or they were made of what it sent.
   * Whoever lets a text choose something (a file, an engine, an address) asks here first.
   * `choosesOnlyNames` of `data/taint.ts` decides about paths.
   *
   * @param text for example an argument of a compiled chunk
   * @returns the tainted parts in order; `undefined` where all of the text is clean
   */
  taintOf(text: string): Ranges | undefined {
    return this.taint.of(text);
  }

  get grains(): Dict {
    return this.#grains;
  }

  /** The host's own grains, those of roster and configuration over them. */
  learnGrains(grains: PlainDict): void {
    this.#hearGrains(grains);
    this.#grains = this.#all(grains);
  }

  /** The host has not answered: its grains may be these. */
  suppose(grains: PlainDict): void {
    this.#hearGrains(grains);
    this.#grains = new WatchedDict(this.#all(grains));
  }

  /** The host answered. @returns whether what was supposed and used is true */
  confirm(grains: PlainDict): boolean {
    this.#hearGrains(grains);
    return this.#grains instanceof WatchedDict && this.#grains.settle(this.#all(grains));
  }

  #all(grains: PlainDict): Dict {
    return toDict({ ...grains, ...(this.opts.grains as PlainDict), id: this.host.id });
  }

  /** Taints the host's own grains. Those of roster and configuration replace them, and are clean. */
  #hearGrains(grains: PlainDict): void {
    this.#said.push(grains);
    const given = this.opts.grains as PlainDict | undefined;
    for (const [name, value] of Object.entries(grains)) {
      if (name === 'id' || (given && Object.hasOwn(given, name))) continue;
      const source = `grain "${name}"`;
      this.taint.hear(name, source);
      this.taint.hear(value, source);
    }
  }

  /** Taints the result of a call to the host. */
  hear(said: Plain, fun: string): void {
    this.#said.push(said);
    this.taint.hear(said, `result of ${fun}`);
  }

  /** Has the host said this text in one piece? */
  hasSaidWhole = (text: string): boolean => this.#heard().includes(text);

  /**
   * Has the host said this text, in one piece or in two that a template may have joined? It must
   * not choose which secret it is told.
   */
  hasSaid(text: string): boolean {
    const heard = this.#heard();
    // Who has said a beginning of it has said each shorter one.
    let [begun, most] = [0, text.length];
    while (begun < most) {
      const middle = Math.ceil((begun + most) / 2);
      if (heard.includes(text.slice(0, middle))) begun = middle;
      else most = middle - 1;
    }
    return begun > 0 && heard.includes(text.slice(begun));
  }

  /** All of it as one text, made when somebody asks: most runs hold no secret that could be meant. */
  #heard(): string {
    if (this.#said.length > 0)
      this.#text += this.#said
        .splice(0)
        .map(said => `${JSON.stringify(said)}\n`)
        .join('');
    return this.#text;
  }

  /** The artifact's modules, for docs and argument checks, and those of the control node. */
  learnModules(artifact: Artifact, own: OwnModules): void {
    this.#modules = artifact.modules;
    this.#own = own;
  }

  get modules(): readonly ModuleMeta[] {
    return this.#modules;
  }

  /** Modules of the user that run on the host: they may compute sources and variables. */
  get ownOnHost(): readonly ModuleMeta[] {
    return this.#modules.filter(({ builtin, kind }) => !builtin && onHost.has(kind));
  }

  /** Modules of the user that the runtime may load: with those that collect grains. */
  get loaded(): readonly ModuleMeta[] {
    return this.#modules.filter(
      ({ builtin, kind }) => !builtin && (kind === 'grains' || onHost.has(kind)),
    );
  }

  /** Modules of the user's for the control node's own work. */
  get own(): OwnModules {
    return this.#own;
  }

  /** `opts` in templates. Made once: a run may render hundreds of them. */
  get templateOpts(): Dict {
    this.#templateOpts ??= templateOpts(this.shared.request.config, this.opts);
    return this.#templateOpts;
  }
}
