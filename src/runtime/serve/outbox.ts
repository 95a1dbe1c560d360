import type { ModuleContext } from '../../modules/api.ts';
import type { StateBegun, StateFinished, StateStarted } from '../../protocol/job.ts';

/** The events of this host, held back until its hello was sent. */
export class Outbox {
  readonly #event: (name: string, payload: unknown) => void;
  #held: (() => void)[] | undefined = [];
  /** The state that began last, until its start is sent. */
  #begun: StateStarted | undefined;
  #isDue = false;

  /** @param event sends an event */
  constructor(event: (name: string, payload: unknown) => void) {
    this.#event = event;
  }

  /** Sends an event, after the hello. */
  send(name: string, payload: unknown): void {
    this.sendStart();
    this.#send(name, payload);
  }

  /**
   * Sends the start of a state; together with its end, if that follows within one turn of the event
   * loop. Most states that change nothing end so: they need one message instead of two.
   */
  start(state: StateStarted): void {
    this.sendStart();
    this.#begun = state;
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      this.sendStart();
    });
  }

  /** Sends the result of a state. */
  finish(state: StateFinished): void {
    const begun = this.#begun;
    if (begun?.tag !== state.tag) {
      this.send('state', state);
      return;
    }
    const { id, fun, name } = begun;
    const whole: StateFinished & StateBegun = { ...state, began: [id, fun, name] };
    this.#send('state', whole);
    this.#begun = undefined;
  }

  /** Sends a start that was held back; before all else that the other side is to see after it. */
  sendStart(): void {
    const begun = this.#begun;
    if (!begun) return;
    this.#begun = undefined;
    this.#send('state-start', begun);
  }

  #send(name: string, payload: unknown): void {
    if (this.#held) this.#held.push(() => this.#event(name, payload));
    else this.#event(name, payload);
  }

  /** Sends the events that were held back; later ones are sent at once. */
  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const send of held) send();
  }

  /** Sends a line of the log. */
  log: ModuleContext['log'] = (level, module, message, stack) =>
    this.send('log', {
      level,
      module,
      message: clip(message),
      ...(stack === undefined ? {} : { stack }),
    });
}

/** Shortens a line of the log, so that it fits into one message and remains readable. */
const clip = (message: string): string =>
  message.length <= longestLine
    ? message
    : `${message.slice(0, longestLine)} … (${message.length - longestLine} characters more)`;

const longestLine = 1024 * 1024;
