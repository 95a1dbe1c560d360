import * as packed from '@jitl/quickjs-ng-wasmfile-release-sync';
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  type QuickJSSyncVariant,
} from 'quickjs-emscripten-core';

import type { Wasm } from '../confined/worker-file.ts';

// Its types declare CommonJS, but the bundle contains its ES module.
const base = packed.default as unknown as QuickJSSyncVariant;

export type SandboxLimits = {
  readonly milliseconds: number;
  readonly megabytes: number;
};

/** The code of a sandbox reached one of its limits. */
export class LimitError extends Error {}

/** Code of the sandbox threw. */
export class GuestCodeError extends Error {
  readonly guestStack: string;

  constructor(name: string, message: string, stack: string) {
    super(message);
    this.name = name;
    this.guestStack = stack;
  }
}

/** Half a megabyte: with more, the thread's own stack would overflow first. */
const stackBytes = 512 * 1024;

/**
 * A separate QuickJS: its own WebAssembly memory, one runtime, one context. It contains the
 * built-in objects of ECMAScript and the functions that are added, nothing else; only strings and
 * handles of its own values are exchanged. It is garbage-collected as a whole.
 */
export class Sandbox {
  readonly context: QuickJSContext;
  readonly #runtime: QuickJSRuntime;
  #left: number;
  #end = 0;
  #over = false;

  private constructor(runtime: QuickJSRuntime, { milliseconds, megabytes }: SandboxLimits) {
    this.#runtime = runtime;
    this.#left = milliseconds;
    runtime.setMemoryLimit(megabytes * 1024 * 1024);
    runtime.setMaxStackSize(stackBytes);
    runtime.setInterruptHandler(() => {
      this.#over ||= performance.now() > this.#end;
      return this.#over;
    });
    this.context = runtime.newContext();
  }

  static async open(wasmModule: Wasm, limits: SandboxLimits): Promise<Sandbox> {
    const quickjs = await newQuickJSWASMModuleFromVariant(
      newVariant(base, { wasmModule }) as QuickJSSyncVariant,
    );
    return new Sandbox(quickjs.newRuntime(), limits);
  }

  /** The remaining milliseconds of computing time. */
  get left(): number {
    return Math.max(0, this.#left);
  }

  /**
   * Runs code, with all jobs that it starts, until it waits or ends.
   *
   * @throws LimitError if its time is up or it is nested too deeply
   */
  compute(work: () => void): void {
    const begin = performance.now();
    this.#end = begin + this.left;
    try {
      work();
      // One by one: after a job that was interrupted, no other may run.
      while (!this.#over && this.#runtime.hasPendingJob()) {
        const { error } = this.#runtime.executePendingJobs(1);
        error?.dispose();
      }
    } catch (error) {
      if (error instanceof RangeError)
        throw new LimitError('the template nests deeper than the stack is (renderer limit)');
      throw error;
    } finally {
      this.#left -= performance.now() - begin;
    }
    if (this.#over) throw new LimitError('time');
  }

  /** Calls the guest once more after its time is up, for a moment. */
  afterwards<T>(work: () => T): T {
    const over = this.#over;
    this.#over = false;
    this.#end = performance.now() + 50;
    try {
      return work();
    } finally {
      this.#over ||= over;
    }
  }

  /**
   * Evaluates code.
   *
   * @throws GuestFault
   */
  evaluate(code: string, name: string): QuickJSHandle {
    const result = this.context.evalCode(code, name);
    if (result.error) throw this.#fault(result.error);
    return result.value;
  }

  /**
   * Calls a method of a guest object.
   *
   * @throws GuestFault
   */
  call(object: QuickJSHandle, method: string, ...args: QuickJSHandle[]): QuickJSHandle {
    const fun = this.context.getProp(object, method);
    const result = this.context.callFunction(fun, this.context.undefined, ...args);
    fun.dispose();
    for (const arg of args) arg.dispose();
    if (result.error) throw this.#fault(result.error);
    return result.value;
  }

  #fault(error: QuickJSHandle): GuestCodeError {
    const read = (name: string): string => {
      const property = this.context.getProp(error, name);
      return this.context.typeof(property) === 'string' ? this.context.getString(property) : '';
    };
    // QuickJS made this error: the template's own code has not run yet.
    return new GuestCodeError(read('name'), read('message'), read('stack'));
  }
}
