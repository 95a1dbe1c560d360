import type { RunEvent } from '../protocol/event.ts';

/** A warning about states or the project, and the hosts that it is about. */
export type StateFinding = { readonly message: string; readonly hosts: readonly string[] };

/** Limit of findings that are kept; hosts choose how many warnings they send. */
const mostFindings = 1000;

/** Collects the warnings about states, each once. */
export class StateFindings {
  readonly #hosts = new Map<string, Set<string>>();

  /** Collects warnings of the state system. */
  follow(event: RunEvent): void {
    if (event.type === 'log' && event.module === 'state' && event.level === 'warning')
      this.add(event.message, event.host);
  }

  /** @param host absent if the finding is about the project */
  add(message: string, host?: string): void {
    const known = this.#hosts.get(message);
    if (!known && this.#hosts.size >= mostFindings) return;
    const hosts = known ?? new Set();
    if (host !== undefined) hosts.add(host);
    this.#hosts.set(message, hosts);
  }

  list(): StateFinding[] {
    return [...this.#hosts].map(([message, hosts]) => ({ message, hosts: [...hosts].sort() }));
  }
}
