import type { LowChunk } from '../../protocol/low.ts';

const packageModules: ReadonlySet<string> = new Set(['pkg', 'pip', 'npm', 'ports', 'kernelpkg']);

/** The states that are currently running. */
export class RunningStates {
  /** By tag: the module, and the description for other users. */
  readonly #states = new Map<string, { readonly module: string; readonly shown: string }>();

  /** Records that a state begins. */
  start(tag: string, { __id__, state, fun }: LowChunk): void {
    this.#states.set(tag, { module: state, shown: `${__id__} (${state}.${fun})`.slice(0, 200) });
  }

  /** Records that a state has finished. */
  finish(tag: string): void {
    this.#states.delete(tag);
  }

  /** Their IDs and functions. */
  get shown(): string {
    return [...this.#states.values()].map(({ shown }) => shown).join(', ');
  }

  /** Whether no state is running. */
  get isEmpty(): boolean {
    return this.#states.size === 0;
  }

  /** Whether a package manager is running for one of them. */
  get hasPackages(): boolean {
    return [...this.#states.values()].some(({ module }) => packageModules.has(module));
  }
}
