import type { Data, Dict } from '../data/values/value.ts';
import type { SourceLocation, TsaltError } from '../protocol/error.ts';
import type { Host } from '../protocol/host.ts';

/** One host as a backend found it: unchecked roster keys, and their origin. */
export type Entry = {
  readonly id: string;
  /** Roster keys; a plain string is the host. */
  readonly value: Data;
  /** The file (or command) that it was read from; paths in it start at its folder. */
  readonly file: string;
  readonly at?: SourceLocation;
  /** Another program wrote it from external values: see `outside.ts`. */
  readonly outside?: Outside;
};

/** A state is made only by programs; an inventory is also written by people. */
export type Outside = 'state' | 'inventory';

/** Roster keys and their file: an entry's own, or the defaults. */
export type Layer = { readonly dict: Dict; readonly file: string; readonly outside?: Outside };

/** The result of one backend. */
export type BackendHosts = {
  readonly entries: readonly Entry[];
  /** Groups of ids by name: nodegroups that the inventory brings along. */
  readonly groups?: ReadonlyMap<string, readonly string[]>;
};

/** Where to read a secret that the roster does not contain: only for hosts that run. */
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
  /** Why the host cannot be run: its entry is wrong. Other hosts are not affected. */
  readonly fault?: TsaltError;
};
