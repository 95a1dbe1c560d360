import type { PromptQuestion, TargetType } from '../config/request.ts';
import type { Plain } from '../protocol/plain.ts';

/** Where configuration, hosts and secrets come from. */
export type ProjectOptions = {
  /**
   * The folder that has `tsalt.yaml`, that file, or the options themselves as `tsalt.yaml` writes
   * them. Absent: the working folder. Relative paths in options given here start at `cwd`.
   */
  readonly config?: string | Readonly<Record<string, unknown>>;
  /**
   * A roster file, or the hosts themselves: an address, or the keys of a roster entry, by id.
   * Absent: the rosters of the configuration.
   */
  readonly roster?: string | Readonly<Record<string, string | RosterEntry>>;
  /** The working folder of this project. Absent: that of the process. */
  readonly cwd?: string;
  /** Environment for the configuration, the roster and ssh. Absent: that of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /**
   * Answers where a password, a passphrase or a question of a server is needed, each once in a run.
   * Absent: such a host fails with the code `no-terminal`.
   */
  readonly ask?: (question: PromptQuestion) => string | Promise<string>;
  /** Answers the question of `batchAsk`. */
  readonly confirm?: (question: string) => boolean | Promise<boolean>;
};

/** Keys of a roster entry: `host`, `user`, `port`, `priv`, `sudo`, `minion_opts` … */
export type RosterEntry = { readonly [key: string]: Plain };

/** Options of a run, by the names of `tsalt-ssh --help`. */
export type RunFlags = {
  /** Test mode: what would change. */
  readonly test?: boolean;
  /** How many hosts at the same time. Default: `ssh_max_procs`, 25. */
  readonly maxProcs?: number;
  /** Finish this many hosts before the next: `5`, `'20%'`, or `'1,5,20%'` to begin with fewer. */
  readonly batch?: number | string;
  /** `sliding`: host after host instead of batch after batch. */
  readonly batchMode?: 'lockstep' | 'sliding';
  /** Seconds between batches. */
  readonly batchWait?: number;
  /** A function that must succeed on the hosts of a batch: `'service.status nginx'`. */
  readonly batchCheck?: string;
  /** Ask by `confirm` before each further batch. */
  readonly batchAsk?: boolean;
  /** Start no further host after this many failures: `2` or `'10%'`. */
  readonly maxFail?: number | string;
  readonly order?: 'roster' | 'alphabetical' | 'reverse' | 'random';
  /** Only hosts of the target that match this compound expression, or that `@FILE` lists. */
  readonly limit?: string;
  /** Leave out the hosts of this compound expression. */
  readonly exclude?: string;
  /** Start no further host once one has failed. */
  readonly failhard?: boolean;
  /**
   * Only these states: IDs or SLS, as comma-separated globs. The states that they require are
   * included.
   */
  readonly only?: string;
  /** Leave out these states. */
  readonly skip?: string;
  /** Only states with one of these tags. */
  readonly tags?: string;
  readonly skipTags?: string;
  /** Begin with this state. */
  readonly from?: string;
  /** End with this state. */
  readonly until?: string;
  /** Leave out states that the selected ones require. */
  readonly noDeps?: boolean;
  /** Refuse state arguments that would be ignored. */
  readonly strict?: boolean;
  /** Seconds that one host may take in all. */
  readonly timeout?: number;
  /** Seconds in which the control node must be able to log in again, or changes are rolled back. */
  readonly guard?: number;
  /** The job id, 20 digits. Default: the time. */
  readonly jid?: string;
  /** Remove the workspace from the hosts after the run. */
  readonly wipe?: boolean;
  readonly user?: string;
  readonly port?: number;
  /** Path of a private key. */
  readonly priv?: string;
  /** Become root by sudo where the roster does not say. */
  readonly sudo?: boolean;
  readonly identitiesOnly?: boolean;
  readonly noSshConfig?: boolean;
  readonly acceptNewHostKeys?: boolean;
  /** Do not check host keys: any machine could answer. */
  readonly ignoreHostKeys?: boolean;
  readonly transport?: 'ssh2' | 'openssh';
  /** Options of OpenSSH, `Name=value`. */
  readonly sshOption?: readonly string[];
  /** Path of Node on the hosts. */
  readonly nodeBin?: string;
};

/** The hosts that are meant. */
export type TargetSettings = {
  /** An expression of the kind that `targetType` says, or a list of ids. */
  readonly target: string | readonly string[];
  /** Default: `glob`. */
  readonly targetType?: TargetType;
  /** Between the keys of a nested grain or pillar. Default: `:`. */
  readonly delimiter?: string;
};

/** A function and its arguments. Values are used unchanged: no string is parsed as YAML. */
export type CallSettings = {
  /** `module.function`, such as `state.apply`. */
  readonly fun: string;
  readonly args?: readonly unknown[];
  readonly kwargs?: Readonly<Record<string, unknown>>;
};

/** Options of `run`. */
export type RunOptions = ProjectOptions &
  RunFlags &
  TargetSettings &
  CallSettings & {
    /** Ends the run: hosts at work finish the state they are at, no further one begins. */
    readonly signal?: AbortSignal;
  };
