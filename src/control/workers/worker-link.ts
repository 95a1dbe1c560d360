import { type ChildProcess, fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  decodeMessage,
  encodeMessage,
  type FromFleetWorker,
  type ToFleetWorker,
} from './messages.ts';
import { workerFlag } from './process-flags.ts';

/** The built command line. */
export const programFile: string = join(dirname(fileURLToPath(import.meta.url)), 'tsalt-ssh.cjs');

/** Whether this program can start itself again. Unbuilt sources, as in tests, cannot. */
export const canStartWorkers = (): boolean => existsSync(programFile);

/** Milliseconds that a worker may take to close its connections. */
const patience = 3000;

/** A worker process as the main process sees it. */
export class WorkerLink {
  readonly #child: ChildProcess;
  readonly #whenOver: () => void;
  /**
   * Resolves with the exit code or signal when the process has ended and its messages are received.
   */
  readonly ended: Promise<string>;
  #isAlive = true;
  /** The number of its current hosts. */
  load = 0;

  constructor(fun: string, hear: (message: FromFleetWorker) => void) {
    // The launcher chooses the code cache by the function name.
    this.#child = fork(programFile, [workerFlag, fun], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      execArgv: [],
    });
    this.#whenOver = () => this.#child.kill('SIGKILL');
    process.once('exit', this.#whenOver);
    this.#child.on('message', texts => {
      for (const text of texts as readonly string[]) hear(decodeMessage(text) as FromFleetWorker);
    });
    const gone = new Promise<string>(resolve => {
      this.#child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
      this.#child.once('error', error => resolve(error.message));
    });
    const drained = new Promise<void>(resolve => {
      this.#child.once('disconnect', () => resolve());
      this.#child.once('error', () => resolve());
    });
    this.ended = Promise.all([gone, drained]).then(([how]) => {
      this.#isAlive = false;
      process.off('exit', this.#whenOver);
      return how;
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get isAlive(): boolean {
    return this.#isAlive && this.#child.connected;
  }

  send(message: ToFleetWorker): void {
    // If it has just ended, `ended` resolves.
    if (this.#child.connected) this.#child.send([encodeMessage(message)], () => undefined);
  }

  /** Ends it; resolves when it has gone. */
  async close(): Promise<void> {
    this.send({ type: 'end' });
    const late = setTimeout(() => this.#child.kill('SIGKILL'), patience);
    await this.ended;
    clearTimeout(late);
  }
}
