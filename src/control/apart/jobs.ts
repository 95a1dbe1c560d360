import type { ErrorKind, SourceLocation } from '../../protocol/error.ts';

/** A template that a host sent, with the variables that it names, packed. */
export type RenderJob = {
  readonly type: 'render';
  readonly text: string;
  readonly file: string;
  readonly pipe: string;
  readonly saltenv: string;
  readonly whitelist?: readonly string[] | undefined;
  readonly blacklist?: readonly string[] | undefined;
  readonly grains: string;
  readonly pillar: string;
  readonly opts: string;
  readonly extra: string;
};

/** A document that a host sent. */
export type ReadJob = {
  readonly type: 'read';
  readonly format: string;
  readonly text: string;
  /** Limits of the parsed document: with aliases, a short YAML text becomes a large value. */
  readonly most: { readonly values: number; readonly characters: number };
};

/** A job that is computed in a process of its own because a host sent its input. */
export type ApartJob = RenderJob | ReadJob;

/** A TsaltError on its way between processes. */
export type SentTsaltError = {
  readonly code: string;
  readonly message: string;
  readonly kind: ErrorKind;
  readonly at?: SourceLocation | undefined;
  readonly hint?: string | undefined;
  readonly excerpt?: string | undefined;
  readonly saltText?: string | undefined;
};

/** The end of a job: a string (rendered, or packed data), or an error. */
export type JobEnd = { readonly text: string } | { readonly fault: SentTsaltError };

/** The result of a template's call. */
export type TemplateCallResult =
  | {
      /** Packed data. */
      readonly value: string;
      /** The index of the argument that the function changed and returned. */
      readonly argument?: number | undefined;
    }
  | { readonly fault: SentTsaltError };

/** Messages from the control node to the process. `id` numbers its jobs. */
export type ToChild =
  | { readonly type: 'begin'; readonly id: number; readonly job: ApartJob }
  | { readonly type: 'answer'; readonly id: number; readonly answer: TemplateCallResult }
  /** The result of this job is not needed any more. */
  | { readonly type: 'drop'; readonly id: number };

/** Messages from the process. A job makes one request at a time. */
export type FromChild =
  | { readonly type: 'ask'; readonly id: number; readonly question: TemplateCall }
  | { readonly type: 'end'; readonly id: number; readonly end: JobEnd };

/** A call: the function, its arguments and its keyword arguments, packed. */
export type TemplateCall = readonly [fun: string, args: string, kwargs: string];
