import type { Data } from '../../data/values/value.ts';
import { isDict } from '../../data/values/value.ts';
import { pack, unpack } from '../../render/confined/wire.ts';
import { Sdb } from '../../sdb/sdb.ts';
import type { Vault } from '../../sdb/vault.ts';

/** Asks the main process; the response is packed data, or undefined. */
export type AskRun = (method: string, params: readonly unknown[]) => Promise<unknown>;

/**
 * Reads `sdb://` stores through the main process: each address is read once per run, and the
 * credentials of the stores stay there.
 */
export class ForwardedSdb extends Sdb {
  readonly #isUsed: boolean;
  readonly #ask: AskRun;

  /** @param isUsed whether there is any profile; the profiles stay in the main process */
  constructor(isUsed: boolean, ask: AskRun) {
    super({ options: new Map(), dir: '/', env: {}, decrypt: refuse });
    this.#isUsed = isUsed;
    this.#ask = ask;
  }

  override get isUsed(): boolean {
    return this.#isUsed;
  }

  override async vault(): Promise<Vault> {
    const call =
      (name: keyof Vault) =>
      async (...params: readonly unknown[]): Promise<never> =>
        received(await this.#ask('vault', [name, packedParams(params)])) as never;
    return {
      read: call('read'),
      readWithMetadata: call('readWithMetadata'),
      write: call('write'),
      delete: call('delete'),
      destroy: call('destroy'),
      list: call('list'),
      isV2: call('isV2'),
    };
  }

  override async get(uri: Data, strict = false): Promise<Data> {
    return this.#call('get', [uri, strict]);
  }

  override async set(uri: Data, value: Data): Promise<boolean> {
    return (await this.#call('set', [uri, value])) === true;
  }

  override async delete(uri: Data): Promise<boolean> {
    return (await this.#call('delete', [uri])) === true;
  }

  override async getOrSetHash(
    uri: Data,
    { length, chars, store }: Parameters<Sdb['getOrSetHash']>[1],
  ): Promise<Data> {
    return this.#call('getOrSetHash', [uri, length, chars, store]);
  }

  async #call(name: string, params: readonly Data[]): Promise<Data> {
    return received(await this.#ask('sdb', [name, packedParams(params)])) ?? null;
  }
}

const packedParams = (params: readonly unknown[]): string => pack(params as Data[]);

const received = (value: unknown): Data | undefined =>
  typeof value === 'string' ? unpack(value) : undefined;

const refuse = async (): Promise<never> => {
  throw new Error('secrets are decrypted in the process of the run');
};

/** Answers a `ForwardedSdb`, in the main process. */
export const serveSdb = async (
  sdb: Sdb,
  method: 'sdb' | 'vault',
  [name, packed]: readonly unknown[],
): Promise<string | undefined> => {
  const params = unpack(String(packed));
  const list = Array.isArray(params) ? params : [];
  const value =
    method === 'vault'
      ? await askVault(await sdb.vault(), String(name), list)
      : await askStore(sdb, String(name), list);
  return value === undefined ? undefined : pack(value);
};

const askStore = (sdb: Sdb, name: string, params: readonly Data[]): Promise<Data> => {
  const [uri = null, second = null, chars = '', store = false] = params;
  if (name === 'get') return sdb.get(uri, second === true);
  if (name === 'set') return sdb.set(uri, second);
  if (name === 'delete') return sdb.delete(uri);
  return sdb.getOrSetHash(uri, {
    length: Number(second),
    chars: String(chars),
    store: store === true,
  });
};

const askVault = async (
  vault: Vault,
  name: string,
  params: readonly Data[],
): Promise<Data | undefined> => {
  const [first, second] = params;
  const path = String(first);
  if (name === 'read') return vault.read(path);
  if (name === 'readWithMetadata') return vault.readWithMetadata(path);
  if (name === 'list') return vault.list(path);
  if (name === 'isV2') return vault.isV2(path);
  if (name === 'write') return vault.write(path, isDict(second) ? second : new Map());
  if (name === 'destroy')
    return void (await vault.destroy(path, Array.isArray(second) ? second.map(Number) : []));
  return void (await vault.delete(path));
};
