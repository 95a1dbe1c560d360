import type { Data, Dict } from '../data/values/value.ts';
import type { Vault } from './vault.ts';

/** The parts of the control node that a driver may use. */
export type SdbWorld = {
  /** The project folder: relative paths start there. */
  readonly dir: string;
  /** The environment of the `env` driver; values written by `sdb.set` last for this run. */
  readonly env: Map<string, string>;
  /** Decrypts PGP messages in data, for `yaml` with `gpg: true`. */
  readonly decrypt: (data: Data) => Promise<Data>;
  readonly vault: () => Promise<Vault>;
};

/** One kind of store. Its profile is the mapping in the configuration that selects it. */
export type SdbDriver = {
  /** Returns null if the key does not exist. */
  readonly get: (key: string, profile: Dict, world: SdbWorld) => Promise<Data>;
  readonly set?: (key: string, value: Data, profile: Dict, world: SdbWorld) => Promise<boolean>;
  readonly delete?: (key: string, profile: Dict, world: SdbWorld) => Promise<boolean>;
};
