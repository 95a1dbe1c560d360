/** The location of an error: a file of the user, and the position in it (1-based). */
export type SourceLocation = {
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
  /** The line of the rendered text, if one line of the template made several. */
  readonly rendered?: number;
};

/** The kinds of errors that have exit codes of their own; see `cli/exit-code.ts`. */
export type ErrorKind =
  | 'usage'
  | 'no-target'
  | 'render'
  | 'pillar'
  | 'unreachable'
  | 'host-key'
  | 'auth'
  /** A function of a module failed. */
  | 'function'
  /** A host or a file is no longer as its plan expects. */
  | 'drift'
  /** A host disconnected, or cannot run what it received. */
  | 'host'
  | 'internal';

export type ErrorOptions = {
  readonly kind?: ErrorKind;
  readonly at?: SourceLocation | undefined;
  /** How to fix it, in one sentence. */
  readonly hint?: string | undefined;
  /** The lines around the error, ready to print. */
  readonly excerpt?: string | undefined;
  /** Salt's message, if it differs from ours: scripts receive this one. */
  readonly saltText?: string | undefined;
  readonly cause?: unknown;
};

/**
 * The only error class: a code for programs, one sentence for people, the location and a hint. A
 * new failure is a new code, not a new class.
 */
export class TsaltError extends Error {
  override readonly name = 'TsaltError';
  readonly code: string;
  readonly kind: ErrorKind;
  readonly at: SourceLocation | undefined;
  readonly hint: string | undefined;
  readonly excerpt: string | undefined;
  readonly saltText: string | undefined;

  constructor(code: string, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.kind = options.kind ?? 'usage';
    this.at = options.at;
    this.hint = options.hint;
    this.excerpt = options.excerpt;
    this.saltText = options.saltText;
  }
}

/**
 * Formats a location as `file:line:column`, as far as known, with the rendered line of text from a
 * loop.
 */
export const showLocation = ({ file, line, column, rendered }: SourceLocation): string => {
  const place = [file, line, line === undefined ? undefined : column]
    .filter(part => part !== undefined)
    .join(':');
  return rendered === undefined ? place : `${place}, rendered line ${rendered}`;
};

/** Returns the text of a thrown value: an error's message, or the value itself. */
export const messageOf = (thrown: unknown): string => {
  if (thrown instanceof Error) return thrown.message;
  if (typeof thrown !== 'object' || thrown === null) return String(thrown);
  try {
    return JSON.stringify(thrown) ?? 'something that is not an error';
  } catch {
    return 'something that is not an error';
  }
};

/** Returns the complete error text for the user: sentence, location, excerpt, hint. */
export const showError = (error: unknown): string => {
  if (!(error instanceof TsaltError)) return messageOf(error);
  const { message, at, excerpt, hint } = error;
  const head = at ? `${message} (${showLocation(at)})` : message;
  return [head, excerpt, hint].filter(part => part !== undefined && part !== '').join('\n');
};
