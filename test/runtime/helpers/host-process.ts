import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import type {
  Hello,
  HostOpts,
  LogLine,
  StateBegun,
  StateFinished,
  StateStarted,
} from '../../../src/protocol/job.ts';
import type { LowChunk } from '../../../src/protocol/low.ts';
import { type Handler, Peer } from '../../../src/protocol/peer.ts';

let bundle: string | undefined;

/** The host program as one CommonJS file, as the artifact is. */
const builtHost = (): string => {
  if (bundle) return bundle;
  bundle = join(mkdtempSync(join(tmpdir(), 'tsalt-host-')), 'host.cjs');
  buildSync({
    entryPoints: [join(import.meta.dirname, 'host-main.ts')],
    outfile: bundle,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node18',
    logLevel: 'error',
  });
  return bundle;
};

export const makeDir = (): string => mkdtempSync(join(tmpdir(), 'tsalt-work-'));

export type HostProcess = {
  readonly peer: Peer;
  readonly child: ChildProcess;
  readonly hello: Promise<Hello>;
  readonly logs: LogLine[];
  readonly started: StateStarted[];
  readonly finished: StateFinished[];
  /** Tags of states whose start came with their end. */
  readonly joined: string[];
  readonly exited: Promise<number | null>;
  /** Closes the wire, as a lost connection does. */
  readonly hangUp: () => void;
};

/** Starts the host program and speaks the wire with it. */
export const startHost = (
  dir: string,
  handlers: Readonly<Record<string, Handler>> = {},
  kind: 'lazy' | '' = '',
): HostProcess => {
  const child = spawn(process.execPath, [builtHost(), dir, kind], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const logs: LogLine[] = [];
  const started: StateStarted[] = [];
  const finished: StateFinished[] = [];
  const joined: string[] = [];
  let greet: (hello: Hello) => void = () => {};
  const hello = new Promise<Hello>(resolve => {
    greet = resolve;
  });
  const peer = new Peer({
    write: bytes => {
      child.stdin?.write(bytes);
      return undefined;
    },
    handlers,
    events: {
      hello: (payload: Hello) => greet(payload),
      log: (line: LogLine) => void logs.push(line),
      'state-start': (payload: StateStarted) => void started.push(payload),
      output: () => {},
      state: ({ began, ...payload }: StateFinished & StateBegun) => {
        if (began) {
          const [id, fun, name] = began;
          started.push({ tag: payload.tag, id, fun, name });
          joined.push(payload.tag);
        }
        finished.push(payload);
      },
      pong: () => {},
    },
  });
  child.stdin?.on('error', () => {});
  child.stdout?.on('data', (bytes: Buffer) => peer.receive(bytes));
  const exited = new Promise<number | null>(resolve => child.on('exit', resolve));
  return {
    peer,
    child,
    hello,
    logs,
    started,
    finished,
    joined,
    exited,
    hangUp: () => {
      child.stdin?.end();
    },
  };
};

export const opts: HostOpts = { id: 'h', test: false, saltenv: 'base' };

/** A low chunk: `low('test.nop', 'id', { require: [{ test: 'x' }] })`. */
export const low = (
  function_: string,
  id: string,
  extra: { [key: string]: LowChunk[string] } = {},
): LowChunk => {
  const [state = '', fun = ''] = function_.split('.');
  return { state, fun, name: id, __id__: id, __sls__: 'a', __env__: 'base', order: 1, ...extra };
};
