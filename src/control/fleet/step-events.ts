import { fnmatch } from '../../data/python/glob.ts';
import type { EventsSeen, EventWait } from '../../protocol/orchestration.ts';
import { isPlainDict, type Plain } from '../../protocol/plain.ts';

type SentHere = { readonly tag: string; readonly data: Plain; readonly host: string };

/** Events that wait to be waited for. */
const mostEvents = 10_000;

/** The events that hosts of an orchestration have sent, for `salt.wait_for_event`. */
export class StepEvents {
  #events: SentHere[] = [];
  readonly #listeners = new Set<() => void>();

  /** A host has sent an event. */
  sent({ tag, data, host }: SentHere): void {
    if (this.#events.length >= mostEvents) this.#events.shift();
    this.#events.push({ tag, data, host });
    for (const listener of this.#listeners) listener();
  }

  /** Waits until the events have come, for a time. */
  wait = async (
    { tag, ids, event_id, timeout }: EventWait,
    signal: AbortSignal,
  ): Promise<EventsSeen> => {
    const began = performance.now();
    const left = ids.map(id => JSON.stringify(id));
    const seen: Plain[] = [];
    const look = (): void => {
      this.#events = this.#events.filter(event => {
        if (!fnmatch(event.tag, tag)) return true;
        const value = isPlainDict(event.data) ? event.data[event_id] : undefined;
        const id = value ?? (event_id === 'id' ? event.host : null);
        const at = left.indexOf(JSON.stringify(id));
        if (at < 0) return true;
        left.splice(at, 1);
        seen.push(id);
        return false;
      });
    };
    look();
    if (left.length > 0)
      await new Promise<void>(resolve => {
        const end = (): void => {
          clearTimeout(timer);
          this.#listeners.delete(onEvent);
          signal.removeEventListener('abort', end);
          resolve();
        };
        const onEvent = (): void => {
          look();
          if (left.length === 0) end();
        };
        const timer = setTimeout(end, Math.min(timeout * 1000, 2 ** 31 - 1));
        this.#listeners.add(onEvent);
        signal.addEventListener('abort', end, { once: true });
      });
    const took = Math.round(performance.now() - began) / 1000;
    return { seen, took, isLate: left.length > 0 };
  };
}
