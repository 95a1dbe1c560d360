import type { RunEvent } from '../protocol/event.ts';
import type { LogLevel } from '../protocol/job.ts';
import type { Format } from './format.ts';
import type { PageAbout } from './html/about.ts';
import type { Live } from './live.ts';
import type { OutputOptions } from './options.ts';

export type OutputRequest = {
  readonly options: OutputOptions;
  /** Outputters of the user's (`_outputters`); asked for names that are not built in. */
  readonly userFormat?: (name: string) => Promise<Format | undefined>;
  /** Takes the results: standard output or a file. */
  readonly write: (text: string) => void;
  /** Takes messages for the person: standard error. */
  readonly complain: (text: string) => void;
  readonly logLevel: LogLevel | 'quiet';
  /** `--log-file`: gets log lines from its own level on. */
  readonly logFile?: { readonly level: LogLevel | 'quiet'; readonly write: (text: string) => void };
  /** `--log-format json`: messages and events are logged as lines of JSON. */
  readonly jsonLog?: { readonly jid: () => string | undefined };
  /** `-v`: a line for each phase of each host. */
  readonly timeline: boolean;
  /** Command lines that repeat the run, on all hosts or on some. */
  readonly commands?: {
    readonly whole: string;
    readonly only: (ids: readonly string[]) => string;
  };
  /** Returns the parts of a page for a plan or an audit; called when the page is written. */
  readonly about?: () => PageAbout | undefined;
  /** `--stream`: a line for each line that states print. */
  readonly stream?: boolean;
  /** Hosts with equal results are shown together, and a recap follows, where people read the output. */
  readonly fold?: boolean;
  /** Progress on a terminal; absent where there is none. */
  readonly live?: () => Promise<Live>;
  /** Milliseconds until progress is worth its room. */
  readonly liveAfter?: number;
};

/** Shows a run while it happens and what came of it. */
export type Output = {
  readonly emit: (event: RunEvent) => void;
  /** Removes progress from the screen until the returned function is called. */
  readonly pause: () => Promise<() => void>;
  /** Writes the pending output. */
  readonly finish: () => Promise<void>;
  /** Reports that the run could not be done; standard output stays valid. */
  readonly fail: (error: unknown) => Promise<void>;
};
