import type { LowChunk } from '../protocol/low.ts';
import type { Plain, PlainDict } from '../protocol/plain.ts';
import type {
  FileHashes,
  PlannedRun,
  PlannedTaint,
  Prediction,
  StepTargets,
} from '../protocol/plan.ts';
import type { StateFinding } from './findings.ts';

/** Functions that compile states or run them as given: plans are made of these, and of no others. */
export const planFunctions: ReadonlySet<string> = new Set(
  ['apply', 'highstate', 'sls', 'sls_id', 'single', 'top', 'test', 'high', 'low']
    .concat('template', 'template_str')
    .map(name => `state.${name}`),
);

/** The version of the file format that is written, and the only one that is read. */
export const planVersion = 1;

/** The call from which a plan was made. */
export type PlannedCall = {
  readonly target: string;
  /** The target is not in the roster: an address, or this machine. */
  readonly adHoc?: boolean;
  readonly fun: string;
  readonly args: readonly Plain[];
  readonly kwargs: PlainDict;
};

/** One host of a plan. Chunks and predictions are indexes into the tables of the plan. */
export type PlannedHost = Pick<PlannedRun, 'saltenv' | 'opts' | 'sources'> & {
  readonly chunks: readonly number[];
  readonly states: readonly number[];
  readonly tainted: readonly PlannedTaint[];
};

/** One step of an orchestration. */
export type PlannedStep = Pick<StepTargets, 'tag' | 'id' | 'hosts' | 'why'> & {
  /** The hosts whose states are compiled. */
  readonly bound: { readonly [id: string]: PlannedHost };
  /** The hosts whose states are compiled when the step runs, and why. */
  readonly later: readonly { readonly id: string; readonly message: string }[];
};

/** Compiled chunks and predictions for each host. */
export type Plan = {
  /** The version of tsalt-ssh. */
  readonly tsalt: string;
  /** SHA-256 of the artifact. */
  readonly artifact: string;
  /** Times in ISO 8601. */
  readonly created: string;
  readonly expires: string;
  readonly jid: string;
  readonly call: PlannedCall;
  readonly files: FileHashes;
  readonly folders: { readonly [saltenv: string]: readonly string[] };
  /** Chunks of all hosts, without duplicates. */
  readonly chunks: readonly LowChunk[];
  /** Predictions of all hosts, without duplicates. */
  readonly states: readonly Prediction[];
  readonly hosts: { readonly [id: string]: PlannedHost };
  /** The steps of an orchestration, in their order; its own states are those of its host. */
  readonly steps?: readonly PlannedStep[];
  /** Hosts without a plan, and why. */
  readonly failed: readonly { readonly id: string; readonly message: string }[];
  /** Warnings about states, and the hosts that they are about. */
  readonly findings: readonly StateFinding[];
};

/** Returns the predictions of a host, in the order of its states. */
export const predictionsOf = (plan: Plan, host: PlannedHost): Prediction[] =>
  host.states.flatMap(at => plan.states[at] ?? []);

/** The hosts of all steps of an orchestration, each once. */
export const stepHosts = ({ steps = [] }: Plan): string[] => [
  ...new Set(steps.flatMap(({ hosts }) => hosts)),
];

/** Whether a state would change something, or would fail. */
export const isNotable = ({ result, changes }: Prediction): boolean =>
  result !== true || Object.keys(changes).length > 0;
