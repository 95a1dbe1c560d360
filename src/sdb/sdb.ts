import { randomInt } from 'node:crypto';
import { noteSecret } from '../data/known-secrets.ts';
import { type Data, type Dict, isDict } from '../data/values/value.ts';
import { messageOf, TsaltError } from '../protocol/error.ts';
import { getOwn } from '../protocol/plain.ts';
import type { SdbDriver, SdbWorld } from './driver.ts';
import { looksLikeSdb, parseSdbUri } from './uri.ts';
import type { Vault } from './vault.ts';

const drivers: Readonly<Record<string, () => Promise<SdbDriver>>> = {
  env: async () => (await import('./drivers/env.ts')).envDriver,
  file: async () => (await import('./drivers/file.ts')).fileDriver,
  cmd: async () => (await import('./drivers/cmd.ts')).cmdDriver,
  yaml: async () => (await import('./drivers/yaml.ts')).yamlDriver,
  vault: async () => (await import('./drivers/vault.ts')).vaultDriver,
};

export type SdbSettings = {
  /** tsalt.yaml as written: profiles and the settings of `vault`. */
  readonly options: Dict;
  readonly dir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly decrypt: SdbWorld['decrypt'];
};

/** How to make a missing hash; without `store` it lasts for this run only. */
type HashWish = { readonly length: number; readonly chars: string; readonly store: boolean };

const longestHash = 65_536;

/** Whether this option of tsalt.yaml is an sdb profile or configures the access to stores. */
export const isSdbSetting = (name: string, value: Data): boolean =>
  name === 'vault' || driverOf(value) !== undefined;

const driverOf = (profile: Data | undefined): string | undefined => {
  const driver = isDict(profile) ? profile.get('driver') : undefined;
  return typeof driver === 'string' && Object.hasOwn(drivers, driver) ? driver : undefined;
};

/**
 * Salt's key-value stores, mostly for secrets: `sdb://profile/key`. They are opened only on the
 * control node, and each address is read once per run. Errors never contain values.
 */
export class Sdb {
  readonly #options: Dict;
  readonly #world: SdbWorld;
  readonly #known = new Map<string, Promise<Data>>();
  /** Hashes that are being stored, so that simultaneous requests of hosts get the same one. */
  readonly #hashes = new Map<string, Promise<Data>>();
  #vault: Promise<Vault> | undefined;

  constructor({ options, dir, env, decrypt }: SdbSettings) {
    this.#options = new Map(
      [...options].filter(([name, value]) => isSdbSetting(String(name), value)),
    );
    const defined = Object.entries(env).filter(([, value]) => value !== undefined);
    this.#world = {
      dir,
      env: new Map(defined as [string, string][]),
      decrypt,
      vault: () => this.vault(),
    };
  }

  /** Whether any profile is configured. Otherwise addresses have no meaning. */
  get isUsed(): boolean {
    return [...this.#options.values()].some(value => driverOf(value) !== undefined);
  }

  /** Returns Vault as configured by the option `vault`; logs in once per run. */
  vault(): Promise<Vault> {
    this.#vault ??= this.#openVault();
    return this.#vault;
  }

  async #openVault(): Promise<Vault> {
    const { openVault } = await import('./vault.ts');
    return openVault(await this.resolve(this.#options.get('vault') ?? new Map()), this.#world);
  }

  /**
   * Returns the value at an address; null if the store has none. A value that is not an address of
   * a known profile is returned unchanged or, with `strict`, is an error.
   */
  async get(uri: Data, strict = false): Promise<Data> {
    const found = this.#find(uri);
    if (typeof found !== 'string') {
      const known = this.#known.get(uri as string);
      if (known !== undefined) return known;
      const value = this.#use(uri as string, async () =>
        noted(await (await found.load()).get(found.key, found.profile, this.#world)),
      );
      this.#known.set(uri as string, value);
      return value;
    }
    if (strict) throw new TsaltError('sdb-uri', found, { kind: 'usage' });
    return uri;
  }

  /** Writes a value; false when this is not an address of a known profile. */
  async set(uri: Data, value: Data): Promise<boolean> {
    const found = this.#find(uri);
    if (typeof found === 'string') return false;
    return this.#change(uri as string, async () => {
      const { set } = await found.load();
      if (set) return set(found.key, value, found.profile, this.#world);
      throw new Error(`the driver ${found.driver} cannot write`);
    });
  }

  /** Removes a value; false when this is not an address of a known profile. */
  async delete(uri: Data): Promise<boolean> {
    const found = this.#find(uri);
    if (typeof found === 'string') return false;
    return this.#change(uri as string, async () => {
      const { delete: remove } = await found.load();
      if (remove) return remove(found.key, found.profile, this.#world);
      throw new Error(`the driver ${found.driver} cannot delete`);
    });
  }

  /**
   * Returns the value at an address; makes and stores a random string if there is none. Without
   * `store` (test mode) the string lasts for this run only.
   */
  async getOrSetHash(uri: Data, wanted: HashWish): Promise<Data> {
    if (!looksLikeSdb(uri)) return false;
    if (!(wanted.length >= 1 && wanted.length <= longestHash) || wanted.chars === '')
      throw new TsaltError(
        'arguments',
        `sdb.get_or_set_hash needs characters and a length of 1 to ${longestHash}.`,
        { kind: 'usage' },
      );
    const begun = this.#hashes.get(uri);
    if (begun !== undefined) return begun;
    const hash = this.#findOrMake(uri, wanted).finally(() => this.#hashes.delete(uri));
    this.#hashes.set(uri, hash);
    return hash;
  }

  async #findOrMake(uri: string, { length, chars, store }: HashWish): Promise<Data> {
    const known = await this.get(uri);
    if (known !== null && known !== '') return known;
    const made = Array.from({ length }, () => chars[randomInt(chars.length)]).join('');
    if (store) await this.set(uri, made);
    else this.#known.set(uri, Promise.resolve(made));
    return made;
  }

  /**
   * Replaces every address of a known profile in the data by its value; lists are copied,
   * dictionaries keep their metadata (their lines).
   */
  async resolve(data: Data, allowed: (uri: string) => boolean = () => true): Promise<Data> {
    if (typeof data === 'string') return allowed(data) ? this.get(data) : data;
    if (Array.isArray(data)) {
      const list: Data[] = [];
      for (const item of data) list.push(await this.resolve(item, allowed));
      return list;
    }
    if (!isDict(data)) return data;
    for (const [key, value] of data) {
      const resolved = await this.resolve(value, allowed);
      if (resolved !== value) data.set(key, resolved);
    }
    return data;
  }

  /** Returns profile and driver of an address, or what is wrong with it. */
  #find(uri: Data):
    | string
    | {
        readonly key: string;
        readonly profile: Dict;
        readonly driver: string;
        readonly load: () => Promise<SdbDriver>;
      } {
    if (!looksLikeSdb(uri)) return 'An address of sdb must start with "sdb://".';
    const parts = parseSdbUri(uri);
    if (parts === undefined)
      return `The sdb address '${uri}' must have a profile and a key: sdb://PROFILE/KEY.`;
    const profile = this.#options.get(parts.profile);
    const driver = driverOf(profile);
    const load = driver === undefined ? undefined : getOwn(drivers, driver);
    if (!isDict(profile) || driver === undefined || load === undefined)
      return `The configuration has no sdb profile '${parts.profile}' (a mapping with 'driver': ${Object.keys(drivers).join(', ')}).`;
    return { key: parts.key, profile, driver, load };
  }

  /** Values read before or during the change are dropped from the cache. */
  async #change(uri: string, work: () => Promise<boolean>): Promise<boolean> {
    this.#known.delete(uri);
    return this.#use(uri, work).finally(() => this.#known.delete(uri));
  }

  async #use<T>(uri: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof TsaltError && error.code === 'sdb') throw error;
      const reason = messageOf(error);
      throw new TsaltError('sdb', `${uri} cannot be used: ${reason.replace(/\.$/, '')}.`, {
        kind: 'usage',
        cause: error,
      });
    }
  }
}

const noted = (value: Data): Data => {
  if (typeof value === 'string') noteSecret(value);
  return value;
};
