import type { Data, Dict } from '../data/values/value.ts';
import type { SourceLocation, TsaltError } from '../protocol/error.ts';
import type { Host } from '../protocol/host.ts';

/** One host as a backend found it: roster keys, unchecked, and where they come from. */
export type Entry = {
  readonly id: string;
  /** Roster keys; text alone is the host. */
  readonly value: Data;
  /** The file (or command) that it was read from; paths in it start at its folder. */
  readonly file: string;
  readonly at?: SourceLocation;
  /** Other programs wrote it, of values that came from elsewhere: see `outside.ts`. */
  readonly outside?: Outside;
};

/** A state is made by programs alone; an inventory is written by people too. */
export type Outside = 'state' | 'inventory';

/** Roster keys and their file: an entry's own, or the defaults. */
export type Layer = { readonly dict: Dict; readonly file: string; readonly outside?: Outside };

/** The result of one backend. */
export type BackendHosts = {
  readonly entries: readonly Entry[];
  /** Groups of ids by name: nodegroups that the inventory brings along. */
  readonly groups?: ReadonlyMap<string, readonly string[]>;
};

/** Where a secret comes from when the roster does not hold it: read only for hosts that run. */
export type SecretSource = {
  readonly node: Dict;
  readonly file: string;
  readonly at: SourceLocation;
};

export type SecretKey = 'passwd' | 'sudo_passwd' | 'priv_passwd';

export type CheckedHost = {
  readonly host: Host;
  /** The source that named it first. */
  readonly file: string;
  readonly secrets: Partial<Record<SecretKey, SecretSource>>;
  /** Why the host cannot be run: its entry is wrong. The other hosts are. */
  readonly fault?: TsaltError;
};
