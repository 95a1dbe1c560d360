import type { HostResult, RunEvent } from '../../protocol/event.ts';
import type { Peer } from '../../protocol/peer.ts';
import type { PlainDict } from '../../protocol/plain.ts';
import type { Shared } from '../fleet/shared.ts';
import type { Site } from './site.ts';

/** Makes a site whose events and whose first step on the host wait as the arguments say. */
export type NewSite = (shared: Shared, greeted: Promise<void>) => Site;

/**
 * A host's run that begins before the host has answered, on the supposition that its grains are
 * those of its last run: rendering and compiling take place while the host starts. Nothing of it
 * is seen, and nothing reaches the host, before `confirm` says that the supposition was right.
 */
export class Rehearsal {
  readonly #shared: Shared;
  readonly #held: RunEvent[] = [];
  readonly #site: Site;
  readonly #result: Promise<HostResult>;
  #isRight = false;
  #greeted: () => void = () => undefined;
  #connected: (peer: Peer) => void = () => undefined;

  constructor(
    shared: Shared,
    grains: PlainDict,
    newSite: NewSite,
    perform: (site: Site, shared: Shared) => Promise<HostResult>,
  ) {
    this.#shared = shared;
    const quiet: Shared = { ...shared, emit: event => this.#emit(event) };
    const greeted = new Promise<void>(resolve => {
      this.#greeted = resolve;
    });
    const peer = new Promise<Peer>(resolve => {
      this.#connected = resolve;
    });
    this.#site = newSite(quiet, greeted);
    this.#site.suppose(grains, peer);
    this.#result = perform(this.#site, quiet);
    // Whoever confirms it hears of a failure.
    this.#result.catch(() => undefined);
  }

  /** The run goes on as it was begun; undefined: the host has changed, and nothing has happened. */
  confirm(
    grains: PlainDict,
    peer: Peer,
  ): { readonly site: Site; readonly result: () => Promise<HostResult> } | undefined {
    if (!this.#site.confirm(grains)) return undefined;
    this.#isRight = true;
    for (const event of this.#held.splice(0)) this.#shared.emit(event);
    this.#connected(peer);
    this.#greeted();
    return { site: this.#site, result: () => this.#result };
  }

  #emit(event: RunEvent): void {
    if (this.#isRight) this.#shared.emit(event);
    else if (event.type === 'phase' && event.phase === 'render')
      this.#held.push({ ...event, detail: 'begun while the host started' });
    else this.#held.push(event);
  }
}
