import type { RunEvent } from '../protocol/event.ts';
import { mostOfState } from '../protocol/job.ts';

/** Characters that are kept of all states of all hosts. */
const mostKept = 64_000_000;

/** Keeps what states printed, for formats that show it at the end. */
export class StoredOutput {
  readonly #texts = new Map<string, string>();
  #size = 0;

  follow(event: RunEvent): void {
    if (event.type !== 'output' || this.#size > mostKept) return;
    const key = JSON.stringify([event.host, event.tag]);
    const before = this.#texts.get(key) ?? '';
    const text = event.text.slice(0, Math.max(0, mostOfState - before.length));
    this.#size += text.length;
    this.#texts.set(key, before + text);
  }

  /** Returns what a state of a host printed. */
  of(host: string, tag: string): string | undefined {
    return this.#texts.get(JSON.stringify([host, tag]));
  }
}
