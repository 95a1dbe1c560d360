import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { type Data, type Dict, isDict } from '../data/values/value.ts';
import { messageOf, TsaltError } from '../protocol/error.ts';
import { type Host, Secret } from '../protocol/host.ts';
import { checkProgram } from '../trust/program.ts';
import { localFile } from './check.ts';
import type { SecretKey, SecretSource } from './roster.ts';

export type SecretReader = {
  /**
   * Returns the value at an `sdb://` address; a string without a known profile is returned
   * unchanged.
   */
  readonly sdb: (uri: string) => Promise<Data>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly ask: (question: {
    readonly host: string;
    readonly what: 'password' | 'sudo-password' | 'passphrase';
    readonly prompt: string;
  }) => Promise<Secret>;
};

const questions = {
  passwd: { what: 'password', words: 'Password' },
  sudo_passwd: { what: 'sudo-password', words: 'sudo password' },
  priv_passwd: { what: 'passphrase', words: 'Passphrase of the key' },
} as const;

/**
 * Fetches the secrets that roster entries refer to. One that several hosts share (from the
 * defaults) is fetched once.
 */
export class SecretStore {
  readonly #reader: SecretReader;
  readonly #known = new Map<Dict, Promise<Secret>>();
  /** Secrets read from file descriptors: a pipe can be read only once. */
  readonly #descriptors = new Map<number, Secret>();

  constructor(reader: SecretReader) {
    this.#reader = reader;
  }

  /**
   * Returns the host with its secrets. Throws `roster-secret-…` with the position, never with the
   * value.
   */
  async fill(
    host: Host,
    secrets: Partial<Record<SecretKey, SecretSource>> | undefined,
  ): Promise<Host> {
    const filled: Partial<Record<SecretKey, Secret>> = {};
    for (const key of Object.keys(secrets ?? {}) as SecretKey[]) {
      const source = secrets?.[key];
      if (source !== undefined) filled[key] = await this.#get(host, key, source);
    }
    return { ...host, ...filled };
  }

  #get(host: Host, key: SecretKey, source: SecretSource): Promise<Secret> {
    const known = this.#known.get(source.node);
    if (known !== undefined) return known;
    const fetched = this.#fetch(host, key, source);
    this.#known.set(source.node, fetched);
    return fetched;
  }

  async #fetch(host: Host, key: SecretKey, source: SecretSource): Promise<Secret> {
    const [[way, value] = ['', null]] = source.node;
    if (way === 'env') return this.#fromEnv(value, source);
    if (way === 'fd') return this.#fromDescriptor(value, source);
    if (way === 'file') return fromFile(String(value), source);
    if (way === 'sdb') return this.#fromSdb(String(value), source);
    if (way === 'command') return fromCommand(value, source);
    const { what, words } = questions[key];
    return this.#reader.ask({
      host: host.id,
      what,
      prompt: `${words} for ${host.user}@${host.host}: `,
    });
  }

  async #fromSdb(uri: string, source: SecretSource): Promise<Secret> {
    const value = await this.#reader.sdb(uri);
    if (typeof value === 'string' || typeof value === 'number') return new Secret(String(value));
    throw failure('sdb', `There is no text at ${uri}.`, source);
  }

  #fromDescriptor(value: Data, source: SecretSource): Secret {
    const number = Number(value);
    const secret = this.#descriptors.get(number) ?? readDescriptor(number, source);
    this.#descriptors.set(number, secret);
    return secret;
  }

  #fromEnv(name: Data, source: SecretSource): Secret {
    const value = this.#reader.env[String(name)];
    if (value !== undefined) return new Secret(value);
    throw failure('env', `The environment variable ${String(name)} is not set.`, source);
  }
}

const fromFile = async (path: string, source: SecretSource): Promise<Secret> => {
  const file = localFile(path, source.file);
  try {
    const { mode } = await stat(file);
    if ((mode & 0o077) !== 0 && process.platform !== 'win32')
      throw failure(
        'file',
        `Others may read the secret file ${file}.`,
        source,
        `chmod 600 ${file}`,
      );
    return new Secret((await readFile(file, 'utf8')).replace(/\r?\n$/, ''));
  } catch (error) {
    if (error instanceof TsaltError) throw error;
    throw failure('file', `The secret file ${file} cannot be read: ${reason(error)}.`, source);
  }
};

const readDescriptor = (number: number, source: SecretSource): Secret => {
  if (!Number.isInteger(number) || number < 0)
    throw failure('fd', `A secret's file descriptor is a number.`, source);
  try {
    return new Secret(readFileSync(number, 'utf8').replace(/\r?\n$/, ''));
  } catch (error) {
    throw failure('fd', `The file descriptor ${number} cannot be read: ${reason(error)}.`, source);
  }
};

const fromCommand = async (value: Data, source: SecretSource): Promise<Secret> => {
  const [program, ...args] = Array.isArray(value) ? value.map(String) : [];
  if (program === undefined || isDict(value))
    throw failure('command', 'A secret command is a list: [PROGRAM, ARGUMENT, …].', source);
  checkProgram([program, ...args], dirname(source.file), 'The secret command');
  try {
    const { stdout } = await promisify(execFile)(program, args, {
      cwd: dirname(source.file),
      timeout: 60_000,
      maxBuffer: 1024 * 1024,
    });
    return new Secret(stdout.replace(/\r?\n$/, ''));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
    throw failure('command', `The secret command '${program}' failed${code}.`, source);
  }
};

const reason = (error: unknown): string => messageOf(error);

const failure = (code: string, message: string, { at }: SecretSource, hint?: string): TsaltError =>
  new TsaltError(`roster-secret-${code}`, message, { at, hint, kind: 'usage' });
