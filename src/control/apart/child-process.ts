import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { workerCode } from '../../render/confined/worker-file.ts';
import type { FromChild, ToChild } from './jobs.ts';

/** Resources that a process has used since its job began. */
export type Used = { readonly milliseconds: number; readonly megabytes: number };

/** Megabytes of V8's heap. */
const heap = 256;
/** Seconds of CPU after which the kernel ends the process, even if the control node is gone. */
const mostSeconds = 60;
/** Milliseconds of CPU after which the process gets no further job. */
const worn = 40_000;
/** Weight of wall time while CPU time is known: other processes use the clock, too. */
const shareOfClock = 0.05;

/** The environment variables that the process needs. It gets no other variable of the user. */
const kept = /^(?:PATH|TZ|LANG|LC_\w+|LD_LIBRARY_PATH|DYLD_LIBRARY_PATH)$/;

const shell = `ulimit -c 0; ulimit -t ${mostSeconds}; exec "$@"`;

/** Runs code that it receives as a message: unbuilt sources have no file with this code. */
const loader = `process.once('message', code => {
  const made = new (require('node:module'))('/host-worker.cjs');
  made._compile(code, '/host-worker.cjs');
})`;

let code: ReturnType<typeof workerCode> | undefined;

/** Starts a process for the jobs of hosts. */
export const startChild = async (): Promise<RenderProcess> => {
  code ??= workerCode('host');
  const { code: given, eval: isText } = await code;
  const file = isText ? ['-e', loader] : [String(given)];
  const args = [process.execPath, `--max-old-space-size=${heap}`, ...file];
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => kept.test(name)));
  const child = spawn('/bin/sh', ['-c', shell, 'sh', ...args], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    serialization: 'advanced',
    cwd: '/',
    env,
  });
  if (isText) child.send(String(given));
  return new RenderProcess(child);
};

/** A process for the jobs of hosts. It ends with this process, and does not keep this one alive. */
export class RenderProcess {
  readonly #child: ChildProcess;
  readonly #whenOver: () => void;
  #cpu: number | undefined;
  /** When the current stretch of work began; `#worked` is the time before it last waited. */
  #since: number | undefined;
  #worked = 0;

  constructor(child: ChildProcess) {
    this.#child = child;
    this.#whenOver = () => this.kill();
    process.once('exit', this.#whenOver);
    // A host that waits for a result keeps this process alive by its connection.
    child.unref();
    child.channel?.unref();
  }

  onMessage(hear: (message: FromChild) => void): void {
    this.#child.on('message', message => hear(message as FromChild));
  }

  /**
   * Calls `hear` when the process ends: with its exit code, or null if V8 or the kernel ended it by
   * a signal.
   */
  onEnd(hear: (code: number | string | null) => void): void {
    this.#child.once('error', (error: NodeJS.ErrnoException) => hear(error.code ?? error.message));
    this.#child.once('exit', code => {
      process.off('exit', this.#whenOver);
      hear(code);
    });
  }

  /** Begins a job; its use of time is counted from here. */
  begin(message: ToChild): void {
    this.#cpu = this.#stat()?.milliseconds;
    this.#worked = 0;
    this.#since = performance.now();
    this.send(message);
  }

  send(message: ToChild): void {
    // If it has just ended, `onEnd` reports that.
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }

  /** Notes that the job waits for a response. */
  waits(): void {
    this.#worked += this.#since === undefined ? 0 : performance.now() - this.#since;
    this.#since = undefined;
  }

  /** Sends the job the response that it waited for. */
  goOn(message: ToChild): void {
    this.#since ??= performance.now();
    this.send(message);
  }

  used(): Used {
    const now = this.#stat();
    const passed = this.#worked + (this.#since === undefined ? 0 : performance.now() - this.#since);
    if (now === undefined || this.#cpu === undefined) return { milliseconds: passed, megabytes: 0 };
    const milliseconds = Math.max(now.milliseconds - this.#cpu, passed * shareOfClock);
    return { milliseconds, megabytes: now.megabytes };
  }

  /** Whether the kernel would soon end it. */
  get isWorn(): boolean {
    return (this.#stat()?.milliseconds ?? 0) > worn;
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  /** Reads the use of CPU and memory from Linux's /proc. */
  #stat(): Used | undefined {
    try {
      const text = readFileSync(`/proc/${this.#child.pid}/stat`, 'latin1');
      const fields = text
        .slice(text.lastIndexOf(')') + 2)
        .split(' ')
        .map(Number);
      const [user = 0, system = 0, pages = 0] = [fields[11], fields[12], fields[21]];
      return { milliseconds: (user + system) * 10, megabytes: pages / 256 };
    } catch {
      return undefined;
    }
  }
}
