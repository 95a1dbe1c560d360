import { hasKnownSecret } from '../../data/known-secrets.ts';
import { lastLine, mostOfState, type OutputPiece } from '../../protocol/job.ts';

/** Milliseconds between the pieces of a state whose output is too long. */
const between = 900;

type Taken = { size: number; at: number };

/**
 * Limits the output of a host's states here as well: the runtime keeps the same limits, but a
 * hostile host may run another one.
 */
export class OutputLimiter {
  readonly #states = new Map<string, Taken>();

  /** Returns the part of a piece that is shown; undefined for none of it. */
  take(piece: OutputPiece): OutputPiece | undefined {
    const taken = this.#states.get(piece.tag) ?? { size: 0, at: 0 };
    this.#states.set(piece.tag, taken);
    const now = performance.now();
    const isOver = taken.size + piece.text.length > mostOfState;
    if (isOver && now - taken.at < between) return undefined;
    taken.at = now;
    taken.size += piece.text.length;
    const text = isOver ? piece.text.slice(-lastLine) : piece.text;
    return { ...piece, text: hasKnownSecret(text) ? hidden : text };
  }

  /** Forgets a state that has finished. */
  end(tag: string): void {
    this.#states.delete(tag);
  }
}

const hidden = '(hidden: the output contains a secret)\n';
