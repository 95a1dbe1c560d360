import type { TemplateOrigin } from '../source-map.ts';

/** A position in a template. */
export type TemplatePosition = {
  readonly source: TemplateSource;
  readonly line: number;
  /** Known for text and for tags that print. */
  readonly column?: number;
  /** Whether it is the template's own text. */
  readonly isText?: boolean;
};

/** The text and the names of a template. */
export type TemplateSource = {
  /** Its path inside the roots. */
  readonly name: string;
  /** The file on the control node. */
  readonly file: string;
  readonly text: string;
  /** Whether it is the template that is rendered; others are imported, included or extended. */
  readonly isMain?: boolean;
};

/** Returns the origin of a piece of the rendered text. */
export const templateOriginOf = ({
  source,
  line,
  column = 1,
  isText = false,
}: TemplatePosition): TemplateOrigin => ({
  file: source.file,
  text: source.text,
  line,
  column,
  isCopy: isText,
});

/** Salt's introduction of the reason, by kind of error. */
const introductions = {
  undefined: 'Jinja variable ',
  syntax: 'Jinja syntax error: ',
  error: 'Jinja error: ',
  call: 'Problem running salt function in Jinja template: ',
  missing: 'Jinja error: ',
  limit: 'Jinja error: ',
} as const;

export type JinjaErrorKind = keyof typeof introductions;

/** An error inside a template; `renderJinja` converts it to a `TsaltError`. */
export class JinjaError extends Error {
  readonly kind: JinjaErrorKind;
  readonly spot: TemplatePosition | undefined;
  readonly hint: string | undefined;
  readonly #saltSentence: string | undefined;

  constructor(
    kind: JinjaErrorKind,
    reason: string,
    more: {
      readonly spot?: TemplatePosition;
      readonly hint?: string;
      readonly cause?: unknown;
      readonly saltSentence?: string | undefined;
    } = {},
  ) {
    super(reason, more.cause === undefined ? undefined : { cause: more.cause });
    this.kind = kind;
    this.spot = more.spot;
    this.hint = more.hint;
    this.#saltSentence = more.saltSentence;
  }

  get sentence(): string {
    return introductions[this.kind] + this.message;
  }

  /** Salt's message, if it differs. */
  get saltSentence(): string {
    return this.#saltSentence ?? this.sentence;
  }
}

/**
 * Throws an error that Python would raise: TypeError, ValueError, KeyError … with Python's message.
 */
export const raise = (reason: string): never => {
  throw new JinjaError('error', reason);
};

/** Throws Jinja's TemplateRuntimeError and similar ones, which Salt reports as syntax errors. */
export const raiseRuntime = (reason: string): never => {
  throw new JinjaError('syntax', reason);
};

export const raiseLimit = (what: string): never => {
  throw new JinjaError('limit', `${what}, which is more than a template may do`, {
    hint: 'See `jinja_limits` in docs/reference/renderers.md.',
  });
};
