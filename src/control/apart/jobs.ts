import type { ErrorKind, SourceLocation } from '../../protocol/error.ts';

/** A template that a host brought, with the variables that it names, packed. */
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

/** A document of a host's. */
export type ReadJob = {
  readonly type: 'read';
  readonly format: string;
  readonly text: string;
  /** What may come of it: aliases of YAML make much of a short text. */
  readonly most: { readonly values: number; readonly characters: number };
};

/** What is computed in a process of its own because a host sent it. */
export type ApartJob = RenderJob | ReadJob;

/** A TsaltError on its way between processes. */
export type SentFault = {
  readonly code: string;
  readonly message: string;
  readonly kind: ErrorKind;
  readonly at?: SourceLocation | undefined;
  readonly hint?: string | undefined;
  readonly excerpt?: string | undefined;
  readonly saltText?: string | undefined;
};

/** How a job ended: with a text (rendered, or packed data), or with a fault. */
export type JobEnd = { readonly text: string } | { readonly fault: SentFault };

/** What a template's call was answered with. */
export type CallAnswer =
  | {
      /** Packed data. */
      readonly value: string;
      /** The argument that the function changed and returned. */
      readonly argument?: number | undefined;
    }
  | { readonly fault: SentFault };

/** What the control node sends to the process. `id` numbers its jobs. */
export type ToChild =
  | { readonly type: 'begin'; readonly id: number; readonly job: ApartJob }
  | { readonly type: 'answer'; readonly id: number; readonly answer: CallAnswer }
  /** Nobody waits for this job any more. */
  | { readonly type: 'drop'; readonly id: number };

/** What the process sends. A job asks for one thing at a time. */
export type FromChild =
  | { readonly type: 'ask'; readonly id: number; readonly question: TemplateCall }
  | { readonly type: 'end'; readonly id: number; readonly end: JobEnd };

/** A call: the function, its arguments and those with names, packed. */
export type TemplateCall = readonly [fun: string, args: string, kwargs: string];
