import type { PillarTop } from '../../compiler/pillar-top.ts';
import type { Request, StepResults } from '../../config/request.ts';
import type { Ranges } from '../../data/taint.ts';
import type { Data, Dict } from '../../data/values/value.ts';
import type { FileRoots } from '../../fileserver/file-roots.ts';
import type { Artifact } from '../../protocol/artifact.ts';
import type { RunEvent } from '../../protocol/event.ts';
import type { LowChunk } from '../../protocol/low.ts';
import type {
  EventsSeen,
  EventWait,
  NestedOrchestration,
  OrchestrationStep,
  StepReturns,
} from '../../protocol/orchestration.ts';
import type { Plain, PlainDict } from '../../protocol/plain.ts';
import type { StateResults } from '../../protocol/result.ts';
import type { TextReads } from '../../render/types.ts';
import type { NodeSource } from '../../transport/node-source.ts';
import type { PillarSettings } from '../../wrapper/context.ts';
import type { KeptHashes } from './kept-hashes.ts';
import type { KeptYaml } from './kept-yaml.ts';
import type { UserModules } from './user-modules.ts';

/** Shared by all hosts of one run. */
export type Shared = {
  readonly request: Request;
  readonly artifact: () => Promise<Artifact>;
  /** The program that only collects grains, for hosts that may not be targets. */
  readonly grainsProgram: () => Promise<Artifact>;
  /** The user's modules that work on the control node. */
  readonly ownModules: () => Promise<UserModules>;
  readonly fileRoots: FileRoots;
  readonly pillarRoots: FileRoots;
  readonly emit: (event: RunEvent) => void;
  readonly nodeSource: NodeSource;
  /** The structures of large YAML texts, from earlier runs. */
  readonly yamlCache?: KeptYaml;
  /** Other runs of a session follow: what does not change until then is kept for them. */
  readonly isRepeated?: boolean;
  /** Hashes of large folders of the file roots, from earlier runs. */
  readonly keptHashes?: KeptHashes;
  /** Data of other hosts; absent where no host can be asked. */
  readonly mine?: Mine;
  /** Asks the main process to compile a host's pillar; absent in the main process itself. */
  readonly askPillar?: AskPillar;
  /** Carries out the steps; present only if the run is an orchestration. */
  readonly conductor?: Conductor;
  /** Follows what a host's pillar and states are made of, to find other hosts with the same. */
  readonly trace?: RenderTrace;
};

/** Files of the same configuration, read earlier. */
export type SharedFiles = Pick<Shared, 'fileRoots' | 'pillarRoots'>;

/** Receives what the templates of the host that is rendered now depend on. */
export type RenderTrace = {
  /** Undefined where it is not known. */
  readonly reads: (reads: TextReads | undefined) => void;
  readonly pillarTop: (top: PillarTop) => void;
};

/**
 * Asks for a host's pillar.
 *
 * @param call sends a request to the host, for templates of the pillar
 */
export type AskPillar = (
  host: string,
  about: { readonly grains: PlainDict; readonly settings: PillarSettings },
  call: (method: string, params: unknown) => Promise<Plain>,
) => Promise<Dict>;

/** A host whose runtime answers calls. */
export type CallableHost = {
  /**
   * `isEarly`: does not wait for the host's pillar, which may itself be waiting for this result.
   */
  readonly call: (fun: string, args: readonly Data[], isEarly: boolean) => Promise<Data>;
};

/** Asks hosts for what their `mine_functions` allow: each function once per host and run. */
export type Mine = {
  /** From now on this host answers calls. */
  readonly greeted: (id: string, host: CallableHost) => void;
  /** The run of a host has ended. */
  readonly left: (id: string, host: CallableHost) => void;
  /** Returns the results of the matching hosts, by id. @throws TsaltError `mine-…` */
  readonly ask: (question: MineQuestion) => Promise<ReadonlyMap<string, Plain>>;
};

/** Asks hosts to call a function. */
export type MineQuestion = {
  readonly tgt: string | readonly string[];
  readonly tgt_type: string;
  /** The name in `mine_functions`. */
  readonly fun: string;
  /** Arguments that replace those in `mine_functions`. */
  readonly args?: readonly Data[];
  /** The host whose states need the results. */
  readonly asker: string;
  /**
   * Asked while the asker's pillar is compiled: the hosts answer without their pillar, so that no
   * host waits for itself.
   */
  readonly isEarly: boolean;
};

/** Carries out the steps of an orchestration. */
export type Conductor = StepResults & {
  /** Runs a step on its hosts. `taintOf` finds what hosts have sent among its arguments. */
  readonly run: (step: OrchestrationStep, taintOf: TaintOf) => Promise<StepReturns>;
  /** Taints a host's return that was passed to a template or a slot of the orchestration. */
  readonly hear: (said: Plain, source: string) => void;
  readonly wait: (wait: EventWait) => Promise<EventsSeen>;
  readonly nested: (
    nested: NestedOrchestration,
    taintOf: TaintOf,
  ) => Promise<{ readonly success: boolean; readonly value: Plain }>;
  /**
   * Resolves the targets of all steps and compiles their states, as far as that is possible now.
   *
   * @returns one error per string
   */
  readonly prepare: (chunks: readonly LowChunk[], isTest: boolean) => Promise<readonly string[]>;
  /** Does work in which all steps are predicted, to be compared with the plan that is applied. */
  readonly rehearse: <T>(work: () => Promise<T>) => Promise<T>;
  /** @throws TsaltError `plan-drift` where hosts differ from the plan */
  readonly refuseDrift: () => void;
  /** The results of steps that the orchestration to resume has finished. */
  readonly finished: (chunks: readonly LowChunk[], all?: readonly LowChunk[]) => StateResults;
};

export type TaintOf = (text: string) => Ranges | undefined;
