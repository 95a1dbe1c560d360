/** A message of the main thread to a worker. `id` numbers the renderings of a worker. */
export type ToWorker =
  | { readonly type: 'begin'; readonly id: number; readonly job: unknown }
  | {
      readonly type: 'answer';
      readonly id: number;
      readonly call: number;
      readonly value?: unknown;
      readonly error?: SentError;
    };

/** A message of a worker. */
export type FromWorker =
  | {
      readonly type: 'call';
      readonly id: number;
      readonly call: number;
      readonly name: string;
      readonly args: readonly unknown[];
    }
  | { readonly type: 'done'; readonly id: number; readonly value: unknown }
  | { readonly type: 'failed'; readonly id: number; readonly error: SentError };

/** An error as it is sent between threads. */
export type SentError = {
  readonly name: string;
  readonly message: string;
  readonly stack?: string | undefined;
  /** The file that it belongs to, if it is not the first one. */
  readonly file?: string | undefined;
  readonly text?: string | undefined;
  readonly line?: number | undefined;
  /** The call to the main thread whose error this is, if any. */
  readonly call?: number | undefined;
  /** Set if a limit ended the rendering. */
  readonly limit?: boolean | undefined;
};

/** Indexes of numbers that a worker shares: the current rendering (0: none), and its deadline. */
export const clockId = 0;
export const clockEnd = 1;

/** Milliseconds of a clock that is common to all threads of the process. */
export const threadClock = (): number => Number(process.hrtime.bigint() / 1_000_000n) % 2 ** 31;
