import type { RunEvent } from '../protocol/event.ts';
import { oneLine } from './text.ts';

/** Characters of a line that has not ended yet. */
const longestLine = 8192;

/** States whose lines are kept apart. */
const mostOpen = 10_000;

/** Makes lines of the output of states: `host | state | line`. */
export class StreamLines {
  readonly #write: (text: string) => void;
  /** Begun lines by host, state and stream. */
  readonly #open = new Map<string, string>();

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  follow(event: RunEvent): void {
    if (event.type === 'step') this.follow(event.event);
    else if (event.type === 'output') this.#output(event);
    else if (event.type === 'state') this.#end(event.host, event.tag);
  }

  #output({ host, tag, stream, text, dropped }: RunEvent & { type: 'output' }): void {
    const key = keyOf(host, tag, stream);
    if (dropped !== undefined) this.#line(host, tag, `… ${dropped} characters left out`);
    const lines = ((this.#open.get(key) ?? '') + text).split(/\r\n|[\r\n]/);
    const rest = lines.pop() ?? '';
    for (const line of lines) this.#line(host, tag, line);
    if (rest !== '' && rest.length < longestLine && this.#open.size < mostOpen)
      this.#open.set(key, rest);
    else {
      this.#open.delete(key);
      if (rest !== '') this.#line(host, tag, rest);
    }
  }

  #end(host: string, tag: string): void {
    for (const stream of ['stdout', 'stderr'] as const) {
      const key = keyOf(host, tag, stream);
      const rest = this.#open.get(key);
      if (rest !== undefined) this.#line(host, tag, rest);
      this.#open.delete(key);
    }
  }

  #line(host: string, tag: string, line: string): void {
    this.#write(`${oneLine(host)} | ${stateName(tag)} | ${oneLine(line)}\n`);
  }
}

const keyOf = (host: string, tag: string, stream: string): string =>
  JSON.stringify([host, tag, stream]);

const stateName = (tag: string): string => oneLine((tag.split('_|-')[1] ?? tag).slice(0, 100));
