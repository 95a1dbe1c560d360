import { shownPath } from '../../fileserver/shown-path.ts';
import type { Artifact, TracedPlace } from '../../protocol/artifact.ts';
import { type SourceLocation, showPlace, TsaltError } from '../../protocol/error.ts';
import type { LogLine, StateFinished } from '../../protocol/job.ts';
import { readPositions, type StackPosition } from '../../protocol/stack.ts';

/** Errors by which a module tells the user what is wrong: where it does so is no news. */
const deliberate: ReadonlySet<string> = new Set([
  'CommandExecutionError',
  'SaltInvocationError',
  'SaltError',
]);

/** Takes what a host said, and the places of the artifact that led there. */
type Debug = (message: string, trace: readonly string[]) => void;

/**
 * Says of what a host reports as thrown where in the user's TypeScript that was. The whole way
 * there, tsalt-ssh's own part with it, goes to `debug`.
 */
export class PlacedFaults {
  readonly #artifact: Pick<Artifact, 'trace'>;
  readonly #debug: Debug;

  constructor(artifact: Pick<Artifact, 'trace'>, debug: Debug) {
    this.#artifact = artifact;
    this.#debug = debug;
  }

  /** The failure of a request. */
  explain = (error: TsaltError, stack: readonly StackPosition[]): TsaltError => {
    const at = this.#find(stack, `${error.code}: ${error.message}`);
    if (!at || deliberate.has(error.code)) return error;
    const { code, kind, hint, message } = error;
    return new TsaltError(code, withPlace(message, at), { kind, hint });
  };

  /** A finished state: its comment ends with the place. */
  state = ({ stack, ...finished }: StateFinished): StateFinished => {
    if (stack === undefined) return finished;
    const { result, tag } = finished;
    const at = this.#find(stack, `${tag}: ${result.comment}`);
    return at
      ? { ...finished, result: { ...result, comment: withPlace(result.comment, at) } }
      : finished;
  };

  /** A line of the log. */
  line = ({ stack, ...line }: LogLine): LogLine => {
    if (stack === undefined) return line;
    const at = this.#find(stack, line.message);
    return at ? { ...line, message: withPlace(line.message, at) } : line;
  };

  #find(stack: readonly StackPosition[], what: string): SourceLocation | undefined {
    const places = this.#artifact.trace(readPositions(stack)).map(shown);
    if (places.length > 0) this.#debug(what, places.map(showPlace));
    return places.find(({ own }) => own);
  }
}

const shown = (place: TracedPlace): TracedPlace => ({ ...place, file: shownPath(place.file) });

const withPlace = (text: string, place: SourceLocation): string =>
  `${withoutPlace(text, place)} (${showPlace(place)})`;

/** Of a module that did not load the host names the file, as it knows it. */
const withoutPlace = (text: string, { file }: SourceLocation): string => {
  const [named, known = ''] = / \(([^()]+)\)\s*$/.exec(text) ?? [];
  return named !== undefined && file.endsWith(known)
    ? text.slice(0, -named.length)
    : text.trimEnd();
};
