import type { ModuleContext } from '../../modules/api.ts';
import type { ModuleEvent, OutputPiece, StateFinished, StateStarted } from '../../protocol/job.ts';
import type { PlainDict } from '../../protocol/plain.ts';
import type { Registry } from '../registry-types.ts';

/** The environment of a session; `serve` makes it from the wire. */
export type SessionHost = {
  readonly registry: Registry;
  readonly collectGrains: () => Promise<PlainDict>;
  /** The workspace: lock, journal, results of a run whose link was lost. */
  readonly dir: string;
  /**
   * The folder in which runs of states wait for each other: the workspace without a random name.
   */
  readonly lockDir?: string;
  /** The artifact's hash: its file is in the workspace. */
  readonly sha: string;
  readonly request: <T>(
    method: string,
    params: unknown,
    sink?: (bytes: Uint8Array) => void,
  ) => Promise<T>;
  readonly emit: {
    readonly stateStart: (payload: StateStarted) => void;
    readonly state: (payload: StateFinished) => void;
    readonly output: (payload: OutputPiece) => void;
    readonly event: (payload: ModuleEvent) => void;
    readonly log: ModuleContext['log'];
  };
};
