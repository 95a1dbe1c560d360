import { TsaltError } from '../protocol/error.ts';
import type { Host } from '../protocol/host.ts';
import type { Platform } from './node-source.ts';
import { readable } from './unreachable.ts';

/** The fields of a line of the loader. Host-supplied: neither names nor types are checked. */
export type LoaderLine = Readonly<Record<string, string | number | boolean | null>>;

/** A message before the frames: a JSON line of the loader, or a line of a shell script. */
export type HandshakeMessage =
  | { readonly by: 'loader'; readonly value: LoaderLine }
  | { readonly by: 'shell'; readonly words: readonly string[] };

const marker = Buffer.from('\n\0TSALT1 ', 'latin1');
const shellMarker = Buffer.from('\nTSALT1-', 'latin1');
const longestLine = 64 * 1024;
const keptNoise = 64 * 1024;
const mostNoise = 32 * 1024 * 1024;
const nothing = Buffer.alloc(0);

/** Finds messages among the login shell's output, until the runtime has started. */
export class Handshake {
  readonly #host: string;
  readonly #hear: (said: HandshakeMessage) => void;
  #buffer: Buffer = Buffer.from('\n');
  #noise: Buffer = nothing;
  #noiseSize = 0;
  /** The runtime has started: the bytes after its line are frames, kept until they are taken. */
  #started = false;

  constructor(host: string, hear: (said: HandshakeMessage) => void) {
    this.#host = host;
    this.#hear = hear;
  }

  /** Other output of the host, for diagnostics. */
  get noise(): string {
    const rest = this.#started ? nothing : this.#buffer;
    return readable(Buffer.concat([this.#noise, rest]).toString('utf8'));
  }

  get started(): boolean {
    return this.#started;
  }

  /** @throws {TsaltError} `wire-greeting` */
  push(chunk: Buffer): void {
    this.#buffer = this.#buffer.length > 0 ? Buffer.concat([this.#buffer, chunk]) : chunk;
    while (!this.#started && this.#line());
  }

  /** The bytes after the runtime's first line. */
  takeRest(): Buffer {
    const rest = this.#buffer;
    this.#buffer = nothing;
    return rest;
  }

  /** @returns whether there was a complete line */
  #line(): boolean {
    const buffer = this.#buffer;
    const loader = buffer.indexOf(marker);
    const shell = buffer.indexOf(shellMarker);
    const isLoader = loader >= 0 && (shell < 0 || loader < shell);
    const at = isLoader ? loader : shell;
    if (at < 0) {
      this.#dropNoise(buffer.length - marker.length + 1);
      return false;
    }
    const from = at + (isLoader ? marker : shellMarker).length;
    const end = buffer.indexOf(0x0a, from);
    if (end < 0) {
      if (buffer.length - from > longestLine) throw this.#broken('an endless first line');
      return false;
    }
    const line = buffer.toString('utf8', from, end);
    this.#dropNoise(at);
    // The line feed is left for a shell's next line; after the loader's line come frames.
    this.#buffer = buffer.subarray(isLoader ? end + 1 : end);
    const said = isLoader ? parseLoader(line) : parseShell(line);
    if (!said) throw this.#broken('a first line that is not a JSON object of texts and numbers');
    this.#started = said.by === 'loader' && said.value.start === true;
    this.#hear(said);
    return true;
  }

  #dropNoise(count: number): void {
    if (count <= 0) return;
    this.#noise = Buffer.concat([this.#noise, this.#buffer.subarray(0, count)]).subarray(
      -keptNoise,
    );
    this.#buffer = this.#buffer.subarray(count);
    this.#noiseSize += count;
    if (this.#noiseSize > mostNoise) throw this.#broken('endless output instead of an answer');
  }

  #broken(what: string): TsaltError {
    return handshakeTextError(this.#host, what, this.noise);
  }
}

/** Returns the platform of a host without Node, from its message. */
export const platformOf = ({ id }: Host, said: HandshakeMessage): Platform => {
  if (said.by === 'loader') {
    const { os, arch, libc, have } = said.value;
    return {
      os: readable(String(os), 40),
      arch: readable(String(arch), 40),
      libc: libcOf(libc),
      have: readable(String(have), 40),
    };
  }
  const [word, os = '', arch = '', libc = ''] = said.words.map(text => readable(text, 40));
  if (word !== 'NONODE') throw handshakeTextError(id, 'an unknown first line');
  return { os, arch, libc: libcOf(libc) };
};

const libcOf = (said: unknown): Platform['libc'] =>
  said === 'glibc' || said === 'musl' ? said : 'unknown';

export const handshakeTextError = (host: string, what: string, excerpt?: string): TsaltError =>
  new TsaltError('wire-greeting', `${host}: the host sent ${what}.`, {
    kind: 'host',
    ...(excerpt === undefined ? {} : { excerpt }),
  });

const parseLoader = (line: string): HandshakeMessage | undefined => {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
    // An object in a field may have its own `toString`.
    if (Object.values(value).some(field => typeof field === 'object' && field !== null)) return;
    return { by: 'loader', value: value as LoaderLine };
  } catch {
    return;
  }
};

const parseShell = (line: string): HandshakeMessage => ({
  by: 'shell',
  words: line.replace(/\r$/, '').split(' '),
});
