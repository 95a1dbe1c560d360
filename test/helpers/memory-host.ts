import { PassThrough, Writable } from 'node:stream';
import type { Host } from '../../src/protocol/host.ts';
import type { Channel, Connection, Exit, Transport } from '../../src/transport/transport.ts';

/** A message of the control node. */
// biome-ignore lint/suspicious/noExplicitAny: scripts take messages apart as an attacker would.
export type Received = any;

/** The control node's response to one request. */
export type Answer = {
  readonly value?: unknown;
  /** The bytes of a transfer, as text. */
  readonly content?: string;
  readonly error?: { readonly code: string; readonly message: string };
  /** The wire ended before an answer came. */
  readonly ended?: true;
};

/** The far end of a runtime's wire, within this process. */
export type FarEnd = {
  readonly host: Host;
  readonly send: (bytes: Uint8Array) => void;
  readonly message: (value: unknown) => void;
  /** Greets as the loader and the runtime do. */
  readonly greet: (hello: unknown) => void;
  /** Sends a request with the next number and waits for its answer. */
  readonly ask: (method: string, params: unknown) => Promise<Answer>;
  /** Waits for the answer to a request with this number, which the caller sends by itself. */
  readonly expect: (id: number) => Promise<Answer>;
  /** The number of the next request. */
  readonly nextId: () => number;
  readonly isOver: () => boolean;
  readonly over: Promise<void>;
  /** Ends the command on the host. */
  readonly exit: (code: number) => void;
};

/** The events at the far end of one runtime. */
export type FarScript = {
  readonly begin: (end: FarEnd) => void;
  /** Receives requests of the control node: `call`, `run` and the like. */
  readonly request: (message: Received, end: FarEnd) => void;
  /** Sees all bytes that the control node sends. */
  readonly sees?: (bytes: Buffer) => void;
};

export const frameOf = (type: number, body: Uint8Array, length = body.length): Buffer => {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(length);
  head[4] = type;
  return Buffer.concat([head, body]);
};

/** Connects to hosts that are scripts in this process, by host id. */
export const memoryTransport = (scriptOf: (host: Host) => FarScript): Transport => ({
  connect: async host => connectionTo(host, scriptOf(host)),
  close: () => undefined,
});

const connectionTo = (host: Host, script: FarScript): Connection => {
  const open = new Set<() => void>();
  return {
    host,
    transport: 'local',
    exec: async command => {
      if (/^kill -9 \d+$/.test(command)) return endedChannel();
      if (!command.includes('sh -c')) throw new Error(`An unexpected command: ${command}`);
      const { channel, close } = runtimeChannel(host, script);
      open.add(close);
      return channel;
    },
    lost: () => undefined,
    close: () => {
      for (const close of open) close();
    },
  };
};

const endedChannel = (): Channel => {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  stdout.end();
  stderr.end();
  return {
    stdin: new PassThrough().resume(),
    stdout,
    stderr,
    exited: Promise.resolve({ code: 0, signal: null }),
    signal: () => undefined,
    close: () => undefined,
  };
};

const runtimeChannel = (host: Host, script: FarScript): { channel: Channel; close: () => void } => {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  let exited: (exit: Exit) => void = () => undefined;
  let ended: () => void = () => undefined;
  const exit = new Promise<Exit>(resolve => {
    exited = resolve;
  });
  const over = new Promise<void>(resolve => {
    ended = resolve;
  });
  const waiting = new Map<number, (answer: Answer) => void>();
  const contents = new Map<number, { value: unknown; chunks: Buffer[] }>();
  let isOver = false;
  let lastId = 0;
  const close = (code: number | null): void => {
    if (isOver) return;
    isOver = true;
    for (const resolve of waiting.values()) resolve({ ended: true });
    waiting.clear();
    stdout.end();
    stderr.end();
    exited({ code, signal: null });
    ended();
  };
  const end: FarEnd = {
    host,
    send: bytes => {
      if (!isOver) stdout.write(bytes);
    },
    message: value => end.send(frameOf(1, Buffer.from(JSON.stringify(value)))),
    greet: hello => {
      const first = { start: true, dir: '/', cached: true, node: 'v22.0.0', pid: 4711 };
      end.send(Buffer.from(`\n\0TSALT1 ${JSON.stringify(first)}\n`));
      end.message({ t: 'evt', name: 'hello', payload: hello });
    },
    nextId: () => {
      lastId += 1;
      return lastId;
    },
    expect: id =>
      isOver
        ? Promise.resolve({ ended: true })
        : new Promise(resolve => {
            waiting.set(id, resolve);
          }),
    ask: (method, params) => {
      const id = end.nextId();
      const answer = end.expect(id);
      end.message({ t: 'req', id, method, params });
      return answer;
    },
    isOver: () => isOver,
    over,
    exit: code => close(code),
  };
  const settle = (id: number, answer: Answer): void => {
    waiting.get(id)?.(answer);
    waiting.delete(id);
  };
  const take = (type: number, body: Buffer): void => {
    if (type === 2) {
      contents.get(body.readUInt32BE(0))?.chunks.push(Buffer.from(body.subarray(4)));
      return;
    }
    const message: Received = JSON.parse(body.toString());
    const { t, id, value, error } = message;
    if (t === 'req') script.request(message, end);
    else if (t === 'evt' && message.name === 'ping')
      end.message({ t: 'evt', name: 'pong', payload: null });
    else if (t === 'res' && message.content) contents.set(id, { value, chunks: [] });
    else if (t === 'res') settle(id, error ? { error } : { value });
    else if (t === 'end') {
      const content = contents.get(id);
      contents.delete(id);
      settle(id, {
        ...(error ? { error } : { value: content?.value }),
        content: Buffer.concat(content?.chunks ?? []).toString('latin1'),
      });
    }
  };
  let rest: Buffer = Buffer.alloc(0);
  let parts: Buffer[] = [];
  const stdin = new Writable({
    write: (bytes: Buffer, _, done) => {
      script.sees?.(bytes);
      rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
      while (rest.length >= 5 && rest.length >= 5 + rest.readUInt32BE(0)) {
        const size = 5 + rest.readUInt32BE(0);
        const [type, body] = [rest[4] ?? 0, rest.subarray(5, size)];
        rest = rest.subarray(size);
        if (type === 5) parts.push(Buffer.from(body));
        else {
          const whole = parts.length > 0 && type !== 2 ? Buffer.concat([...parts, body]) : body;
          if (type !== 2) parts = [];
          take(type, whole);
        }
      }
      done();
    },
  });
  script.begin(end);
  return {
    channel: {
      stdin,
      stdout,
      stderr,
      exited: exit,
      signal: () => undefined,
      close: () => close(null),
    },
    close: () => close(null),
  };
};
