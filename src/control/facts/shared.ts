import type { Request } from '../../config/request.ts';
import type { FileRoots } from '../../fileserver/file-roots.ts';
import type { Artifact } from '../../protocol/artifact.ts';
import type { RunEvent } from '../../protocol/event.ts';
import type { NodeSource } from '../../transport/node-source.ts';
import type { OwnModules } from './own-modules.ts';

/** What all hosts of one run share. */
export type Shared = {
  readonly request: Request;
  readonly artifact: () => Promise<Artifact>;
  /** Modules of the user's for the control node's own work. */
  readonly ownModules: () => Promise<OwnModules>;
  readonly fileRoots: FileRoots;
  readonly pillarRoots: FileRoots;
  readonly emit: (event: RunEvent) => void;
  readonly nodeSource: NodeSource;
};
