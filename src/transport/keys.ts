import { readFile } from 'node:fs/promises';
import type { ParsedKey } from 'ssh2';
import { TsaltError } from '../protocol/error.ts';
import type { Secret } from '../protocol/host.ts';
import { fastSign } from './ssh2/tuning.ts';
import type { AskSecret } from './transport.ts';

export type ParseKey = (data: Buffer, passphrase?: string) => ParsedKey | Error;

/**
 * The run's private keys: each file is read, decrypted and parsed once, however many hosts use it.
 * A wrong passphrase fails only the hosts that have it.
 */
export class KeyRing {
  readonly #parser: () => Promise<ParseKey>;
  readonly #ask: AskSecret | undefined;
  readonly #keys = new Map<string, Promise<ParsedKey>>();

  /** `parser` is called when the first key is parsed. */
  constructor(parser: () => Promise<ParseKey>, ask?: AskSecret) {
    this.#parser = parser;
    this.#ask = ask;
  }

  /**
   * Loads a key file. Asks for the passphrase if it is encrypted and none is set.
   * @throws {TsaltError} kind `auth`: missing, unreadable, of an unsupported kind, wrong passphrase
   */
  load(path: string, host: string, passphrase?: Secret): Promise<ParsedKey> {
    const name = `${path}\0${passphrase?.reveal() ?? ''}`;
    const known = this.#keys.get(name);
    if (known) return known;
    const key = this.#load(path, host, passphrase);
    this.#keys.set(name, key);
    return key;
  }

  /** Loads a default identity; undefined if there is no such file or it cannot be used. */
  async loadIfUsable(path: string, host: string): Promise<ParsedKey | undefined> {
    try {
      return await this.load(path, host);
    } catch (error) {
      if (error instanceof TsaltError && skippable.has(error.code)) return;
      throw error;
    }
  }

  async #load(path: string, host: string, passphrase?: Secret): Promise<ParsedKey> {
    const data = await readFile(path).catch((error: NodeJS.ErrnoException) => {
      throw new TsaltError(
        error.code === 'ENOENT' ? 'key-missing' : 'key-unreadable',
        `Cannot read the private key ${path}: ${error.code === 'ENOENT' ? 'there is no such file' : error.code}.`,
        { kind: 'auth', cause: error },
      );
    });
    const parse = await this.#parser();
    let key = parse(data, passphrase?.reveal());
    if (key instanceof Error && !passphrase && isEncrypted(key)) {
      if (!this.#ask) throw noPassphrase(path);
      const answer = await this.#ask({
        host,
        what: 'passphrase',
        prompt: `Passphrase of ${path}: `,
      });
      key = parse(data, answer.reveal());
    }
    if (key instanceof Error) throw unusable(path, key);
    if (!key.isPrivateKey())
      throw new TsaltError('key-public', `${path} is a public key; the private one is needed.`, {
        kind: 'auth',
      });
    return fastSign(key);
  }
}

const skippable = new Set(['key-missing', 'key-unsupported', 'key-no-passphrase', 'no-terminal']);

const isEncrypted = (error: Error): boolean => /encrypted|no passphrase/i.test(error.message);

const noPassphrase = (path: string): TsaltError =>
  new TsaltError('key-no-passphrase', `The private key ${path} is encrypted.`, {
    kind: 'auth',
    hint: 'Set its passphrase as priv_passwd in the roster, or load the key into an agent.',
  });

const unusable = (path: string, error: Error): TsaltError =>
  /bad passphrase|integrity|bad decrypt|decrypt/i.test(error.message)
    ? new TsaltError('key-passphrase', `The passphrase does not open the private key ${path}.`, {
        kind: 'auth',
      })
    : new TsaltError('key-unsupported', `${path} is not a private key that can be used here.`, {
        kind: 'auth',
        hint: 'For FIDO keys and certificates use --transport openssh.',
        cause: error,
      });
