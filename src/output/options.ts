/** How results are shown; names are Salt's where Salt has the option. */
export type OutputOptions = {
  /** `--out`; absent: highstate for state runs, nested for the rest. */
  readonly out?: string;
  readonly color: boolean;
  readonly static: boolean;
  /** `--out-indent`: a negative number means one line. */
  readonly indent?: number | 'pretty';
  readonly state_output: string;
  readonly state_verbose: boolean;
  readonly state_tabular: boolean | string;
  readonly state_output_diff: boolean;
  readonly state_output_profile: boolean;
  readonly state_output_pct: boolean;
  readonly state_compress_ids: boolean;
  readonly state_output_exclude: readonly string[];
  readonly state_output_terse: readonly string[];
  /** `--expect-no-changes`: in JUnit a state that would change something is a failure. */
  readonly expectsNoChanges?: boolean;
  /** Returns the output of a state. */
  readonly printed?: (host: string, tag: string) => string | undefined;
  /** Names the host that showed the same result of a state, so that it is not shown again. */
  readonly sameAs?: (host: string, tag: string) => string | undefined;
};
