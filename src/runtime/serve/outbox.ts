import type { ModuleContext } from '../../modules/api.ts';

/** The events of this host, held back until its hello was sent. */
export class Outbox {
  readonly #event: (name: string, payload: unknown) => void;
  #held: (() => void)[] | undefined = [];

  /** @param event sends an event */
  constructor(event: (name: string, payload: unknown) => void) {
    this.#event = event;
  }

  /** Sends an event, after the hello. */
  send(name: string, payload: unknown): void {
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
