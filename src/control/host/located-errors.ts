import { shownPath } from '../../fileserver/shown-path.ts';
import type { Artifact, TracedLocation } from '../../protocol/artifact.ts';
import { type SourceLocation, showLocation, TsaltError } from '../../protocol/error.ts';
import type { LogLine, StateFinished } from '../../protocol/job.ts';
import { readPositions, type StackPosition } from '../../protocol/stack.ts';

/** Errors that modules throw on purpose to inform the user: their position is of no interest. */
const deliberate: ReadonlySet<string> = new Set([
  'CommandExecutionError',
  'SaltInvocationError',
  'SaltError',
]);

/** Receives the host's message and the trace in the artifact. */
type Debug = (message: string, trace: readonly string[]) => void;

/**
 * Adds to errors that a host reports their position in the user's TypeScript. The whole trace, with
 * tsalt-ssh's own frames, goes to `debug`.
 */
export class LocatedErrors {
  readonly #artifact: Pick<Artifact, 'trace'>;
  readonly #debug: Debug;

  constructor(artifact: Pick<Artifact, 'trace'>, debug: Debug) {
    this.#artifact = artifact;
    this.#debug = debug;
  }

  /** Explains the failure of a request. */
  explain = (error: TsaltError, stack: readonly StackPosition[]): TsaltError => {
    const at = this.#find(stack, `${error.code}: ${error.message}`);
    if (!at || deliberate.has(error.code)) return error;
    const { code, kind, hint, message } = error;
    return new TsaltError(code, withPlace(message, at), { kind, hint });
  };

  /** Explains a finished state: its comment ends with the position. */
  state = ({ stack, ...finished }: StateFinished): StateFinished => {
    if (stack === undefined) return finished;
    const { result, tag } = finished;
    const at = this.#find(stack, `${tag}: ${result.comment}`);
    return at
      ? { ...finished, result: { ...result, comment: withPlace(result.comment, at) } }
      : finished;
  };

  /** Explains a line of the log. */
  line = ({ stack, ...line }: LogLine): LogLine => {
    if (stack === undefined) return line;
    const at = this.#find(stack, line.message);
    return at ? { ...line, message: withPlace(line.message, at) } : line;
  };

  #find(stack: readonly StackPosition[], what: string): SourceLocation | undefined {
    const places = this.#artifact.trace(readPositions(stack)).map(shown);
    if (places.length > 0) this.#debug(what, places.map(showLocation));
    return places.find(({ own }) => own);
  }
}

const shown = (place: TracedLocation): TracedLocation => ({
  ...place,
  file: shownPath(place.file),
});

const withPlace = (text: string, place: SourceLocation): string =>
  `${withoutPlace(text, place)} (${showLocation(place)})`;

/** Removes the file name that the host reports for a module that did not load. */
const withoutPlace = (text: string, { file }: SourceLocation): string => {
  const [named, known = ''] = / \(([^()]+)\)\s*$/.exec(text) ?? [];
  return named !== undefined && file.endsWith(known)
    ? text.slice(0, -named.length)
    : text.trimEnd();
};
