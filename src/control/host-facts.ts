import { type Dict, toDict } from '../data/value.ts';
import { WatchedDict } from '../data/watched-dict.ts';
import type { Artifact } from '../protocol/artifact.ts';
import type { Host } from '../protocol/host.ts';
import type { HostOpts } from '../protocol/job.ts';
import type { ModuleMeta } from '../protocol/meta.ts';
import type { Plain, PlainDict } from '../protocol/plain.ts';
import { hostOpts, templateOpts } from './host-opts.ts';
import { noOwnModules, type OwnModules } from './own-modules.ts';
import type { Shared } from './shared.ts';

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

  constructor(shared: Shared, host: Host) {
    const { config, options } = shared.request;
    this.shared = shared;
    this.host = host;
    this.opts = hostOpts(config, host, { test: options.test || config.test });
  }

  get grains(): Dict {
    return this.#grains;
  }

  /** The host's own grains, those of roster and configuration over them. */
  learnGrains(grains: PlainDict): void {
    this.hear(grains);
    this.#grains = this.#all(grains);
  }

  /** The host has not answered: its grains may be these. */
  suppose(grains: PlainDict): void {
    this.hear(grains);
    this.#grains = new WatchedDict(this.#all(grains));
  }

  /** The host answered. @returns whether what was supposed and used is true */
  confirm(grains: PlainDict): boolean {
    this.hear(grains);
    return this.#grains instanceof WatchedDict && this.#grains.settle(this.#all(grains));
  }

  #all(grains: PlainDict): Dict {
    return toDict({ ...grains, ...(this.opts.grains as PlainDict), id: this.host.id });
  }

  /** Remembers what the host has said: a template may make an address of sdb or a secret's cipher of it. */
  hear(said: Plain | PlainDict): void {
    this.#said.push(said);
  }

  /** Has the host said this text in one piece? */
  hasSaidWhole = (text: string): boolean => this.#heard().includes(text);

  /**
   * Has the host said this text, in one piece or in two that a template may have joined? It must
   * not choose which secret it is told.
   */
  hasSaid(text: string): boolean {
    const heard = this.#heard();
    let begun = 0;
    while (begun < text.length && heard.includes(text.slice(0, begun + 1))) begun += 1;
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
