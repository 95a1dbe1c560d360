import { randomBytes } from 'node:crypto';
import type { StreamWriter } from '../../queue/stream.ts';

/** Attempts after which a mark that has not arrived is taken for lost. */
const mostBehind = 24;

/**
 * Marks that a run sends to itself through its inbox. When one arrives, all that workers had sent
 * before is read. Many workers may send more than one process reads in time: a worker whose signs of
 * life still wait there is not silent.
 */
export class InboxMarks {
  #mark: string | undefined;
  #behind = 0;

  /** Sends a mark unless one is on its way. */
  async send(inbox: StreamWriter): Promise<void> {
    this.#behind += 1;
    if (this.#mark !== undefined && this.#behind < mostBehind) return;
    this.#mark = randomBytes(8).toString('hex');
    this.#behind = 0;
    await inbox.append({ mark: this.#mark });
  }

  /** Whether a message is the mark that is on its way. */
  isArrived(data: unknown): boolean {
    return this.#mark !== undefined && (data as { mark?: unknown } | null)?.mark === this.#mark;
  }

  /** The next mark may be sent. */
  done(): void {
    this.#mark = undefined;
  }
}
