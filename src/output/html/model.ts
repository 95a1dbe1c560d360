import type { HostOutcome } from '../host-outcome.ts';

/** Replaces the id of the host in folded texts. */
export const idPlaceholder = '\u0001';

/** A state: ID, function, name and SLS. */
export type ReportState = readonly [id: string, fun: string, name: string, sls: string];

/** A part of what changed: where it is, its text, and whether that is a diff. */
export type ReportChange = readonly [label: string, text: string, isDiff: 0 | 1];

/** A result without its times; equal ones are kept once. */
export type ReportBody = readonly [
  outcome: number,
  comment: string,
  changes: readonly ReportChange[],
];

/** Requisites of one plan, placed: states, edges with their points, and the size of the whole. */
export type ReportGraph = {
  /** State, centre and size of each node. */
  readonly nodes: readonly (readonly [state: number, x: number, y: number, width: number])[];
  /** Nodes (the one that requires first), kind, and points as x, y, x, y … */
  readonly edges: readonly (readonly [
    from: number,
    to: number,
    kind: string,
    points: readonly number[],
  ])[];
  readonly width: number;
  readonly height: number;
  readonly nodeHeight: number;
  /** States without requisites, which are not drawn. */
  readonly alone: number;
};

export type ReportHost = {
  readonly id: string;
  readonly outcome: HostOutcome;
  /** Why the host has no result. */
  readonly failure?: string;
  /** Indexes of states, bodies, start and duration in milliseconds of each result. */
  readonly states: readonly number[];
  readonly bodies: readonly number[];
  readonly starts: readonly number[];
  readonly durations: readonly number[];
  /** Stages with the milliseconds at which they began. */
  readonly phases: readonly (readonly [phase: string, at: number])[];
  /** When the host was done. */
  readonly end: number;
  /** Index of its graph; a sentence says why there is none. */
  readonly graph?: number | string;
  readonly note?: string;
};

/** Changes that hosts have in common. */
export type ReportGroup = {
  readonly hosts: readonly string[];
  readonly changes: readonly (readonly [...ReportState, body: ReportBody, note: string])[];
};

/** The parts of a plan or an audit above the table of hosts. */
export type ReportAbout = {
  readonly facts: readonly (readonly [name: string, value: string])[];
  readonly outcomes: Readonly<Partial<Record<HostOutcome, string>>>;
  readonly changes: string;
  readonly groups: readonly ReportGroup[];
  readonly left?: string;
  readonly lists: readonly { readonly title: string; readonly items: readonly string[] }[];
  readonly commands: readonly (readonly [label: string, command: string])[];
};

/** All that the page shows. */
export type ReportData = {
  readonly title: string;
  readonly about?: ReportAbout;
  readonly command?: string;
  readonly rerun?: string;
  readonly started: string;
  readonly milliseconds: number;
  readonly error?: string;
  readonly notes: readonly string[];
  readonly states: readonly ReportState[];
  readonly bodies: readonly ReportBody[];
  readonly shapes: readonly (readonly number[])[];
  readonly graphs: readonly ReportGraph[];
  readonly hosts: readonly (Omit<ReportHost, 'states'> & { readonly shape: number })[];
};
