import { lastLine, mostOfState, type OutputPiece, type OutputStream } from '../../protocol/job.ts';
import { monotonic } from '../../protocol/monotonic.ts';

/** Characters that all states of a host may send at once, and per second. */
const burst = 65_536;
const perSecond = 32_768;

/** Limit of a piece; of a longer one, the last characters are sent. */
const longestPiece = 8192;

/** Milliseconds in which output is collected into one piece. */
const collected = 100;
/** Milliseconds between pieces of a state that exceeds its limit; only its last line is shown. */
const collectedLate = 1000;

type Pending = { text: string; dropped: number };

type StateOutput = {
  readonly streams: Map<OutputStream, Pending>;
  left: number;
  sentAt: number;
  timer: NodeJS.Timeout | undefined;
};

/** Sends the output of commands while their states run, within limits of size and rate. */
export class LiveOutput {
  readonly #send: (piece: OutputPiece) => void;
  readonly #states = new Map<string, StateOutput>();
  #budget = burst;
  #budgetAt = monotonic();

  constructor(send: (piece: OutputPiece) => void) {
    this.#send = send;
  }

  /** Adds output of a state. */
  add(tag: string, stream: OutputStream, text: string): void {
    if (text === '') return;
    const state = this.#states.get(tag) ?? this.#begin(tag);
    const pending = state.streams.get(stream) ?? { text: '', dropped: 0 };
    state.streams.set(stream, pending);
    pending.text += text;
    shorten(pending, longestPiece);
    state.timer ??= setTimeout(
      () => this.#flush(tag, state),
      Math.max(10, state.sentAt + collected - monotonic()),
    );
  }

  /** Sends the remaining output of a state that has finished. */
  end(tag: string): void {
    const state = this.#states.get(tag);
    if (!state) return;
    this.#states.delete(tag);
    clearTimeout(state.timer);
    for (const [stream, pending] of state.streams) this.#sendPiece(tag, stream, pending, state);
  }

  #begin(tag: string): StateOutput {
    const state = { streams: new Map(), left: mostOfState, sentAt: 0, timer: undefined };
    this.#states.set(tag, state);
    return state;
  }

  #flush(tag: string, state: StateOutput): void {
    const now = monotonic();
    state.timer = undefined;
    const size = [...state.streams.values()].reduce((sum, { text }) => sum + text.length, 0);
    const isLate = Math.min(state.left, this.#refilled(now)) < size;
    if (isLate && now - state.sentAt < collectedLate) {
      state.timer = setTimeout(() => this.#flush(tag, state), state.sentAt + collectedLate - now);
      return;
    }
    for (const [stream, pending] of state.streams) this.#sendPiece(tag, stream, pending, state);
    state.streams.clear();
    state.sentAt = now;
  }

  #sendPiece(tag: string, stream: OutputStream, pending: Pending, state: StateOutput): void {
    const room = Math.min(state.left, this.#budget);
    if (pending.text.length > room) shorten(pending, lastLine);
    const { text, dropped } = pending;
    state.left = Math.max(0, state.left - text.length);
    this.#budget = Math.max(0, this.#budget - text.length);
    this.#send({ tag, stream, text, ...(dropped > 0 ? { dropped } : {}) });
  }

  #refilled(now: number): number {
    const more = ((now - this.#budgetAt) / 1000) * perSecond;
    this.#budget = Math.min(burst, this.#budget + more);
    this.#budgetAt = now;
    return this.#budget;
  }
}

const shorten = (pending: Pending, most: number): void => {
  const over = pending.text.length - most;
  if (over <= 0) return;
  pending.dropped += over;
  pending.text = pending.text.slice(over);
};
