import { workerData } from 'node:worker_threads';
import type { QuickJSHandle } from 'quickjs-emscripten-core';
import { messageOf } from '../../protocol/error.ts';
import type { SentError } from '../confined/messages.ts';
import type { Wasm } from '../confined/worker-file.ts';
import { computes, serveRuns, type WorkerRun } from '../confined/worker-side.ts';
import { codeOf, type Language, templateLine } from './compile.ts';
import { whereBase } from './guest/protocol.ts';
import { GuestCodeError, LimitError, Sandbox, type SandboxLimits } from './sandbox.ts';

/** A template, and the packed values of variables that it may use. */
export type ScriptTemplate = {
  readonly file: string;
  readonly path: string;
  readonly text: string;
  readonly variables: Readonly<Record<string, string>>;
};

export type ScriptJob = {
  readonly language: Language;
  readonly template: ScriptTemplate;
  /**
   * Names that templates of this rendering can use; the values are sent with the first template
   * that uses them.
   */
  readonly names: readonly string[];
  readonly guarded: boolean;
  readonly limits: SandboxLimits;
};

/** The code of `guest/main.ts`, as a script that evaluates to its `guestFor`. */
declare const guestCode: string;

const { wasm } = workerData as { readonly wasm: Wasm };

/** Limit of calls that a template may have started without awaiting them. */
const mostCalls = 1000;

type Loaded = ScriptTemplate & { readonly code: string };

/** One rendering: its sandbox, and the templates that were loaded into it. */
class ScriptRun {
  readonly #run: WorkerRun;
  readonly #job: ScriptJob;
  readonly #sandbox: Sandbox;
  readonly #templates: Loaded[] = [];
  #guest: QuickJSHandle | undefined;
  #isOver = false;

  constructor(run: WorkerRun, job: ScriptJob, sandbox: Sandbox) {
    this.#run = run;
    this.#job = job;
    this.#sandbox = sandbox;
  }

  begin(): void {
    const { context } = this.#sandbox;
    this.#compute(() => {
      const guestFor = this.#sandbox.evaluate(guestCode, 'guest');
      const send = context.newFunction('send', (...words) => {
        const texts = words.map(word => context.getString(word));
        return context.newNumber(this.#hear(texts[0] ?? '', texts.slice(1)));
      });
      const made = context.callFunction(guestFor, context.undefined, send);
      if (made.error) throw new Error('the sandbox did not begin');
      this.#guest = made.value;
      const source = this.#source(this.#job.template);
      const guarded = this.#job.guarded ? context.true : context.false;
      this.#tell('begin', source, guarded);
    });
  }

  /** Receives a message of the guest. It is untrusted and passed on as strings. */
  #hear(kind: string, words: readonly string[]): number {
    const [first = '', ...rest] = words;
    if (kind === 'done') {
      this.#end(() => this.#run.done([first, rest[0] ?? '']));
      return 0;
    }
    if (kind === 'failed') {
      const [name = '', stack = '', call = ''] = rest;
      this.#fail({ name, message: first, ...(call === '' ? {} : { call: Number(call) }) }, stack);
      return 0;
    }
    if (this.#run.open.size >= mostCalls)
      throw new Error(`the template has begun ${mostCalls} calls without waiting for any`);
    return this.#run.ask(kind, words, answer => this.#answer(kind, answer));
  }

  #answer(
    kind: string,
    { call, value, error }: { call: number; value?: unknown; error?: SentError },
  ): void {
    if (this.#isOver) return;
    this.#compute(() => {
      const { context } = this.#sandbox;
      const number = context.newNumber(call);
      if (error) this.#tell('answer', number, this.#error(error), context.true);
      else if (kind === 'call')
        this.#tell('answer', number, context.newString(String(value)), context.false);
      else {
        try {
          this.#tell('answer', number, this.#source(value as ScriptTemplate), context.false);
        } catch (thrown) {
          const fault = this.#syntax(thrown);
          if (!fault) throw thrown;
          this.#tell('answer', context.newNumber(call), this.#error(fault), context.true);
        }
      }
    });
  }

  #error({ name, message, line }: SentError): QuickJSHandle {
    const { context } = this.#sandbox;
    const error = context.newObject();
    context.setProp(error, 'name', context.newString(name));
    context.setProp(error, 'message', context.newString(message));
    if (name === 'SyntaxError') {
      context.setProp(error, 'index', context.newNumber(this.#templates.length - 1));
      context.setProp(error, 'line', context.newNumber(line ?? 0));
    }
    return error;
  }

  #tell(method: string, ...args: QuickJSHandle[]): QuickJSHandle | undefined {
    return this.#guest && this.#sandbox.call(this.#guest, method, ...args);
  }

  /** Loads a template into the sandbox. */
  #source(template: ScriptTemplate): QuickJSHandle {
    const { context } = this.#sandbox;
    const { path, text, variables } = template;
    const index = this.#templates.length;
    for (const [name, packed] of Object.entries(variables))
      this.#tell('give', context.newString(name), context.newString(packed))?.dispose();
    const names = this.#job.names.filter(name => text.includes(name));
    this.#templates.push({ ...template, code: '' });
    const code = codeOf(this.#job.language, text, names);
    this.#templates[index] = { ...template, code };
    const source = context.newObject();
    const list = context.newArray();
    names.forEach((name, at) => {
      context.setProp(list, at, context.newString(name));
    });
    context.setProp(source, 'index', context.newNumber(index));
    context.setProp(source, 'path', context.newString(path));
    context.setProp(source, 'variables', list);
    context.setProp(source, 'make', this.#sandbox.evaluate(code, `template${index}`));
    return source;
  }

  /** Runs the guest, and ends the rendering if that fails or can never end. */
  #compute(work: () => void): void {
    computes(this.#run.id, this.#sandbox.left);
    try {
      this.#sandbox.compute(work);
      if (!this.#isOver && this.#run.open.size === 0)
        this.#fail(
          { name: 'Error', message: 'the template waits for something that never happens' },
          '',
        );
    } catch (error) {
      if (!this.#isOver) this.#failHere(error);
    } finally {
      computes(0, 0);
    }
  }

  #failHere(error: unknown): void {
    const fault = this.#syntax(error);
    if (fault) this.#send({ ...fault, ...this.#spot(this.#templates.length - 1) });
    else if (error instanceof LimitError)
      this.#fail({ name: 'Error', message: error.message, limit: true }, '');
    else if (error instanceof GuestCodeError) this.#fail(error, error.guestStack);
    else this.#fail({ name: 'Error', message: messageOf(error) }, '');
  }

  /** Returns the syntax error of a template, in Mako or in JavaScript. */
  #syntax(error: unknown): SentError | undefined {
    const guestStack = error instanceof GuestCodeError ? error.guestStack : undefined;
    if (!(error instanceof Error) || error.name !== 'SyntaxError') return undefined;
    const line =
      guestStack === undefined
        ? error.cause
        : templateLine(this.#templates.at(-1)?.code ?? '', lineIn(guestStack).line);
    return {
      name: 'SyntaxError',
      message: error.message,
      ...(typeof line === 'number' ? { line } : {}),
    };
  }

  /** Adds the position in the template: that of the error itself, or else the current one. */
  #fail(error: SentError, stack: string): void {
    let [index, line] = this.#where();
    const found = lineIn(stack);
    const code = this.#templates[found.index]?.code;
    if (error.name !== 'SyntaxError' && found.index === index && code !== undefined) {
      const own = templateLine(code, found.line);
      if (own !== undefined && own >= line) line = own;
    }
    const { name, message, call, limit } = error;
    const memory = name === 'InternalError' && /out of memory/.test(message);
    this.#send({
      name,
      message: memory
        ? `the template used more than ${this.#job.limits.megabytes} MB (renderer limit)`
        : limit && message === 'time'
          ? `the template computed for more than ${this.#job.limits.milliseconds / 1000} s (renderer limit)`
          : message,
      call,
      limit: limit || memory,
      ...this.#spot(index),
      ...(line > 0 ? { line } : {}),
    });
  }

  #spot(index: number): Partial<SentError> {
    const { file, text } = this.#templates[index] ?? this.#job.template;
    return { file, text };
  }

  #where(): [index: number, line: number] {
    try {
      const where = this.#sandbox.afterwards(() => {
        const handle = this.#tell('where');
        return handle ? this.#sandbox.context.getNumber(handle) : 0;
      });
      const index = Math.floor(where / whereBase);
      const line = where % whereBase;
      return [index, line];
    } catch {
      return [0, 0];
    }
  }

  #send(error: SentError): void {
    this.#end(() => this.#run.failed(error));
  }

  #end(tell: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    tell();
  }
}

/** Finds the first line of a template's code in a QuickJS stack. */
const lineIn = (stack: string): { index: number; line: number } => {
  const [, index = '-1', line = '0'] = /\btemplate(\d+):(\d+)/.exec(stack) ?? [];
  return { index: Number(index), line: Number(line) };
};

const begin = async (run: WorkerRun, job: ScriptJob): Promise<void> => {
  try {
    new ScriptRun(run, job, await Sandbox.open(wasm, job.limits)).begin();
  } catch (error) {
    run.failed({ name: 'Error', message: messageOf(error) });
  }
};

serveRuns((run, job) => {
  void begin(run, job as ScriptJob);
});
