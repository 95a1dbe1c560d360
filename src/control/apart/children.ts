import { messageOf, TsaltError } from '../../protocol/error.ts';
import { poolSize } from '../../render/confined/limits.ts';
import { type RenderProcess, startChild } from './child-process.ts';
import type { ApartJob, FromChild, JobEnd, TemplateCall, TemplateCallResult } from './jobs.ts';
import { encodeError } from './sent-error.ts';

/** Answers the calls of a template, on the main thread. */
export type ServeTemplate = (question: TemplateCall) => Promise<TemplateCallResult>;

/** The end of a job, and the CPU time that it used. */
export type Done = { readonly end: JobEnd; readonly milliseconds: number };

/** A limit ended a job. */
export class Exhausted extends Error {
  /** CPU time that it used. */
  readonly milliseconds: number;

  constructor(message: string, milliseconds: number) {
    super(message);
    this.milliseconds = milliseconds;
  }
}

type Answer = {
  readonly key: string;
  readonly answer: Promise<TemplateCallResult>;
  isThere: boolean;
};

type Run = {
  readonly job: ApartJob;
  readonly serve: ServeTemplate;
  /** Milliseconds of CPU that it may use in all processes together. */
  readonly most: number;
  resolve: (done: Done) => void;
  reject: (error: Error) => void;
  /** Results in the order of the calls: the job may have to restart and repeat its calls. */
  readonly answers: Answer[];
  /** Results that it received since it last started. */
  answered: number;
  /** Characters of all calls and results. */
  size: number;
  /** CPU time used in processes that it had to leave. */
  milliseconds: number;
  isOver: boolean;
};

type Member = {
  readonly child: RenderProcess;
  current: { readonly id: number; readonly run: Run } | undefined;
  /** When its job began to wait for a result. */
  waitsSince: number | undefined;
};

/** Characters that a template may send and receive in all. */
const mostAsked = 16 * 1024 * 1024;
/** Characters of one call's arguments. */
const mostArguments = 1024 * 1024;
/**
 * Milliseconds between two checks of the limits; and of CPU that a job may use whose host's run has
 * ended.
 */
const glance = 100;

/** Milliseconds of CPU that one job may use. */
const mostTime = 3000;
/** Megabytes that its process may use. Node itself uses 80. */
const mostMemory = 400;

/**
 * Runs what hosts send in child processes. Threads would not do: V8 ends the whole process if one
 * thread uses too much memory at once. Each process has one job at a time; other jobs wait in the
 * order of their arrival. A job that only waits for its host can lose its process to another job;
 * it later restarts with the results that it already received. A job that exceeds a limit is killed
 * together with its process.
 */
class Children {
  readonly #members = new Set<Member>();
  readonly #ready: Run[] = [];
  #starting = 0;
  #next = 1;
  #watch: NodeJS.Timeout | undefined;

  /**
   * Computes a job when a process is free.
   *
   * @param most milliseconds of CPU that it may use in all processes together, since a job that
   *   waits for its host may have to restart repeatedly
   * @param signal ends it, even before it has begun
   * @throws Exhausted if the job used too much time or memory
   */
  run(job: ApartJob, serve: ServeTemplate, most: number, signal: AbortSignal): Promise<Done> {
    return new Promise((resolve, reject) => {
      const run: Run = {
        ...{ job, serve, most, resolve, reject },
        ...{ answers: [], answered: 0, size: 0, milliseconds: 0, isOver: false },
      };
      const cancel = (): void => this.#cancel(run);
      signal.addEventListener('abort', cancel, { once: true });
      run.resolve = done => {
        signal.removeEventListener('abort', cancel);
        resolve(done);
      };
      run.reject = error => {
        signal.removeEventListener('abort', cancel);
        reject(error);
      };
      this.#ready.push(run);
      this.#assign();
    });
  }

  /**
   * Ends a job whose host's run has ended. To start a process takes longer than most jobs need to
   * end, so the process is only killed if its job goes on.
   */
  #cancel(run: Run): void {
    const member = [...this.#members].find(({ current }) => current?.run === run);
    run.isOver = true;
    run.reject(cancelled());
    const at = this.#ready.indexOf(run);
    if (at >= 0) this.#ready.splice(at, 1);
    if (member?.waitsSince !== undefined) this.#drop(member);
  }

  /** Takes the process from a job that waits for a result, or whose host's run has ended. */
  #drop(member: Member): void {
    if (member.current) member.child.send({ type: 'drop', id: member.current.id });
    this.#leave(member);
    this.#assign();
  }

  #assign(): void {
    while (this.#ready.length > 0) {
      const member = this.#free();
      const run = member && this.#ready.shift();
      if (!run) break;
      this.#begin(member, run);
    }
    const total = this.#members.size + this.#starting;
    if (this.#ready.length > this.#starting && total < poolSize) void this.#start();
  }

  /**
   * Returns a process without a job. If no more may be started, takes the one whose job waits
   * longest.
   */
  #free(): Member | undefined {
    const all = [...this.#members];
    const idle = all.find(({ current }) => current === undefined);
    if (idle || all.length + this.#starting < poolSize) return idle;
    const [waiting] = all
      .filter(({ waitsSince }) => waitsSince !== undefined)
      .sort((a, b) => (a.waitsSince ?? 0) - (b.waitsSince ?? 0));
    if (waiting?.current) {
      waiting.current.run.milliseconds += waiting.child.used().milliseconds;
      waiting.child.send({ type: 'drop', id: waiting.current.id });
      waiting.current = undefined;
    }
    return waiting;
  }

  async #start(): Promise<void> {
    this.#starting += 1;
    try {
      const child = await startChild();
      const member: Member = { child, current: undefined, waitsSince: undefined };
      this.#members.add(member);
      child.onMessage(message => this.#hear(member, message));
      child.onEnd(code =>
        this.#end(
          member,
          code === null ? exhausted(member, 'took too much memory') : notStarted(code),
        ),
      );
    } catch (error) {
      for (const { reject } of this.#ready.splice(0))
        reject(error instanceof Error ? error : new Error(messageOf(error)));
    } finally {
      this.#starting -= 1;
    }
    this.#assign();
  }

  #begin(member: Member, run: Run): void {
    const id = this.#next;
    this.#next += 1;
    member.current = { id, run };
    run.answered = 0;
    member.waitsSince = undefined;
    member.child.begin({ type: 'begin', id, job: run.job });
    this.#watch ??= setInterval(() => this.#look(), glance).unref();
  }

  #hear(member: Member, message: FromChild): void {
    const run = member.current?.id === message.id ? member.current.run : undefined;
    if (!run) return;
    if (message.type === 'ask') {
      if (run.isOver) this.#drop(member);
      else this.#answer(member, run, message);
      return;
    }
    const milliseconds = run.milliseconds + member.child.used().milliseconds;
    this.#leave(member);
    run.resolve({ end: message.end, milliseconds });
    this.#assign();
  }

  #answer(member: Member, run: Run, { id, question }: FromChild & { readonly type: 'ask' }): void {
    const found = this.#known(run, question);
    member.child.waits();
    if (!found.isThere) member.waitsSince = performance.now();
    void found.answer.then(answer => {
      if (member.current?.id === id) {
        member.waitsSince = undefined;
        run.answered += 1;
        member.child.goOn({ type: 'answer', id, answer });
      } else if (!run.isOver) this.#restart(run);
    });
    this.#assign();
  }

  /** Lets a job whose process another job uses begin again, unless its time is used up. */
  #restart(run: Run): void {
    // `#look` would miss a job that never stays in one process until the next check.
    if (run.milliseconds > run.most) {
      run.isOver = true;
      run.reject(new Exhausted(tookAllOf(run), run.milliseconds));
      return;
    }
    this.#ready.push(run);
    this.#assign();
  }

  /** Returns the result that this call got before the job restarted, or makes the call. */
  #known(run: Run, question: TemplateCall): Answer {
    const key = question.join('\0');
    const known = run.answers[run.answered];
    if (known?.key === key) return known;
    run.size += key.length;
    const served =
      key.length > mostArguments || run.size > mostAsked
        ? Promise.reject(tooMuch(run.size > mostAsked ? mostAsked : mostArguments))
        : run.serve(question);
    const answer = served
      .then(found => {
        run.size += 'value' in found ? found.value.length : 0;
        if (run.size > mostAsked) throw tooMuch(mostAsked);
        return found;
      })
      .catch((error: unknown): TemplateCallResult => ({ fault: encodeError(error) }));
    const made: Answer = { key, answer, isThere: false };
    void answer.then(() => {
      made.isThere = true;
    });
    run.answers[run.answered] = made;
    return made;
  }

  #leave(member: Member): void {
    if (member.current) member.current.run.isOver = true;
    member.current = undefined;
    member.waitsSince = undefined;
    if (member.child.isWorn && this.#members.delete(member)) member.child.kill();
    if ([...this.#members].some(({ current }) => current)) return;
    clearInterval(this.#watch);
    this.#watch = undefined;
  }

  /** Ends the processes whose job exceeds a limit, or whose host's run has ended. */
  #look(): void {
    for (const member of this.#members) {
      if (!member.current) continue;
      const { milliseconds, megabytes } = member.child.used();
      const { most, milliseconds: before, isOver } = member.current.run;
      if (isOver && milliseconds >= glance) this.#end(member, cancelled());
      else if (milliseconds > mostTime)
        this.#end(member, exhausted(member, `took more than ${mostTime / 1000} s`));
      else if (before + milliseconds > most)
        this.#end(member, exhausted(member, tookAllOf(member.current.run)));
      else if (megabytes > mostMemory)
        this.#end(member, exhausted(member, `took more than ${mostMemory} MB`));
    }
  }

  #end(member: Member, error: Error): void {
    if (!this.#members.delete(member)) return;
    const run = member.current?.run;
    this.#leave(member);
    member.child.kill();
    run?.reject(error);
    this.#assign();
  }
}

const tookAllOf = ({ most }: Run): string => `took more than the ${most / 1000} s that were left`;

const exhausted = ({ child, current }: Member, message: string): Exhausted =>
  new Exhausted(message, (current?.run.milliseconds ?? 0) + child.used().milliseconds);

const cancelled = (): TsaltError =>
  new TsaltError('cancelled', 'The run of its host has ended.', { kind: 'host' });

const notStarted = (code: number | string): TsaltError =>
  new TsaltError('apart-ended', `The process that renders texts of hosts ended with ${code}.`, {
    kind: 'internal',
  });

const tooMuch = (most: number): TsaltError =>
  new TsaltError('render-limit', `A template of the host requests more than ${most} characters.`, {
    kind: 'host',
  });

/** The processes that all hosts share. */
export const children: Children = new Children();
