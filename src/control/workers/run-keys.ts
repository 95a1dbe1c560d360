import { newKey } from '../../queue/cipher.ts';
import { workerOf } from '../../queue/names.ts';

/** The most processes of one worker that a run listens to: one, and more after restarts. */
const mostProcesses = 20;

/** How many runs of this process had each job id. */
const runs = new Map<string, number>();

/**
 * Returns the name of a run in the queue. The steps of an orchestration share its job id, and some of
 * them run at the same time: each has a name of its own, of the same form.
 */
export const queuedRunName = (jid: string): string => {
  const before = runs.get(jid) ?? 0;
  runs.set(jid, before + 1);
  return String(BigInt(jid) + BigInt(before)).padStart(jid.length, '0');
};

/**
 * The keys of the messages of one run. Each worker has a key of its own: it can neither read nor
 * forge the messages of another worker.
 */
export class RunKeys {
  readonly #keys = new Map<string, Buffer>();
  readonly #processes = new Map<string, Set<string>>();

  /** Returns the key of a worker, which is made when it is first needed. */
  of(segment: string, worker: string): Buffer {
    const name = `${segment}~${worker}`;
    const key = this.#keys.get(name) ?? newKey();
    this.#keys.set(name, key);
    return key;
  }

  /** Returns segment and key of a process of a worker; undefined if no job was sealed to the worker. */
  ofProcess(instance: string): { readonly segment: string; readonly key: Buffer } | undefined {
    const from = workerOf(instance);
    const key = from && this.#keys.get(`${from.segment}~${from.worker}`);
    return from && key && { segment: from.segment, key };
  }

  /** Whether another process of its worker may take part; call it for messages of the worker only. */
  admits(instance: string): boolean {
    const { segment, worker } = workerOf(instance) ?? {};
    const name = `${segment}~${worker}`;
    const known = this.#processes.get(name) ?? new Set();
    if (known.size < mostProcesses) known.add(instance);
    this.#processes.set(name, known);
    return known.has(instance);
  }
}
