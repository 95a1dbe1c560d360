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

// Its types say that it is CommonJS, but what is bundled is its ES module.
const base = packed.default as unknown as QuickJSSyncVariant;

export type SandboxLimits = {
  readonly milliseconds: number;
  readonly megabytes: number;
};

/** The code of a sandbox reached one of its limits. */
export class LimitError extends Error {}

/** Code of the sandbox threw. */
export class GuestFault extends Error {
  readonly guestStack: string;

  constructor(name: string, message: string, stack: string) {
    super(message);
    this.name = name;
    this.guestStack = stack;
  }
}

/** Half of a megabyte: deeper, the thread's own stack would end first. */
const stackBytes = 512 * 1024;

/**
 * A QuickJS of its own: its own WebAssembly memory, one runtime, one context. It knows the
 * built-in objects of ECMAScript and the functions that are put in, nothing else; only texts and
 * handles of its own values go in and out. It is left to the garbage collector as a whole.
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

  /** Milliseconds that the code in here may still compute. */
  get left(): number {
    return Math.max(0, this.#left);
  }

  /**
   * Lets code compute, with all that follows from it, until it waits for something or ends.
   *
   * @throws LimitError when its time is over, or it nests deeper than the stack is
   */
  compute(work: () => void): void {
    const begin = performance.now();
    this.#end = begin + this.left;
    try {
      work();
      // One by one: a job that the interrupt ended must not be followed by another.
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

  /** Calls the guest once more after its time was over, for a moment. */
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
   * Calls a method of a guest's object.
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

  #fault(error: QuickJSHandle): GuestFault {
    const read = (name: string): string => {
      const property = this.context.getProp(error, name);
      return this.context.typeof(property) === 'string' ? this.context.getString(property) : '';
    };
    // It is an error that QuickJS made: before the template's own code runs there is no other.
    return new GuestFault(read('name'), read('message'), read('stack'));
  }
}
