import { readFile } from 'node:fs/promises';
import { request as httpRequest, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { resolve } from 'node:path';
import { type Data, type Dict, isDict, toData, toPlain } from '../data/values/value.ts';
import type { Plain } from '../protocol/plain.ts';
import type { SdbWorld } from './driver.ts';

/** HashiCorp Vault's key-value secrets, version 1 or 2 depending on the mount. */
export type Vault = {
  /** The data stored at a path; undefined where there is none. */
  readonly read: (path: string) => Promise<Dict | undefined>;
  /** As `read`, with version and times where the mount keeps them (KV 2). */
  readonly readWithMetadata: (path: string) => Promise<Dict | undefined>;
  /** Replaces what is stored at a path. */
  readonly write: (path: string, values: Dict) => Promise<Data>;
  readonly delete: (path: string) => Promise<void>;
  /** Destroys versions of a secret for good; only KV 2 has them. */
  readonly destroy: (path: string, versions: readonly number[]) => Promise<void>;
  readonly list: (path: string) => Promise<Dict | undefined>;
  readonly isV2: (path: string) => Promise<boolean>;
};

type Answer = { readonly status: number; readonly body: Data };

/** Sends a request to Vault's API; `path` comes without `/v1/`. */
type Send = (method: string, path: string, body?: Plain) => Promise<Answer>;

/**
 * Opens Vault as configured by the option `vault`, as Salt does: `url`, `namespace`, `verify`,
 * `auth` by `token`, `approle` or `wrapped_token`. `VAULT_ADDR`, `VAULT_TOKEN`, `VAULT_NAMESPACE`
 * and `VAULT_CACERT` replace missing settings.
 */
export const openVault = async (settings: Data, world: SdbWorld): Promise<Vault> => {
  const given: Dict = isDict(settings) ? settings : new Map();
  const text = (name: string, variable: string): string | undefined => {
    const value = given.get(name) ?? world.env.get(variable);
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const url = text('url', 'VAULT_ADDR');
  if (url === undefined || !/^https?:\/\//.test(url) || !URL.canParse(url))
    throw new Error("the option 'vault' must have an http or https 'url'");
  const namespace = text('namespace', 'VAULT_NAMESPACE');
  const tls = await tlsOf(given.get('verify') ?? world.env.get('VAULT_CACERT'), world);
  const headers = namespace === undefined ? {} : { 'X-Vault-Namespace': namespace };
  const ask =
    (token: string | undefined): Send =>
    (method, path, body) =>
      exchange(
        `${url.replace(/\/$/, '')}/v1/${path}`,
        {
          method,
          headers: { ...headers, ...(token === undefined ? {} : { 'X-Vault-Token': token }) },
          ...tls,
        },
        body,
      );
  const auth = given.get('auth');
  const token = await tokenOf(isDict(auth) ? auth : new Map(), world, ask);
  return keyValues(ask(token));
};

const tlsOf = async (verify: Data | undefined, { dir }: SdbWorld): Promise<RequestOptions> => {
  if (verify === false) return { rejectUnauthorized: false } as RequestOptions;
  if (typeof verify !== 'string') return {};
  const file = resolve(dir, verify);
  try {
    return { ca: await readFile(file) } as RequestOptions;
  } catch {
    throw new Error(`the certificates ${file} ('verify' of vault) cannot be read`);
  }
};

const tokenOf = async (
  auth: Dict,
  { env }: SdbWorld,
  ask: (token: string | undefined) => Send,
): Promise<string> => {
  const method = auth.get('method') ?? 'token';
  const own = auth.get('token') ?? env.get('VAULT_TOKEN');
  if (method === 'approle') {
    const login = {
      role_id: String(auth.get('role_id') ?? ''),
      ...(auth.has('secret_id') ? { secret_id: String(auth.get('secret_id')) } : {}),
    };
    return clientToken(await ask(undefined)('POST', 'auth/approle/login', login), 'approle');
  }
  if (typeof own !== 'string' || own === '')
    throw new Error("the option 'vault' must have auth:token, or VAULT_TOKEN must be set");
  if (method === 'wrapped_token')
    return clientToken(await ask(own)('POST', 'sys/wrapping/unwrap'), 'the wrapped token');
  if (method === 'token') return own;
  throw new Error(
    `'vault' has no auth method '${String(method)}': token, approle and wrapped_token are known`,
  );
};

const clientToken = ({ status, body }: Answer, what: string): string => {
  const auth = isDict(body) ? body.get('auth') : undefined;
  const token = isDict(auth) ? auth.get('client_token') : undefined;
  if (status === 200 && typeof token === 'string') return token;
  throw new Error(`vault did not take ${what} (${status}${reasonIn(body)})`);
};

const keyValues = (send: Send): Vault => {
  const mounts = new Map<string, Promise<string | undefined>>();
  /** Returns the mount of a path if it keeps versions (KV 2). */
  const versioned = (path: string): Promise<string | undefined> => {
    const known = mounts.get(path);
    if (known !== undefined) return known;
    const found = send('GET', `sys/internal/ui/mounts/${encode(path)}`).then(mountOf);
    mounts.set(path, found);
    return found;
  };
  /** Returns the path in the API: KV 2 inserts a part between mount and secret. */
  const address = async (path: string, part: 'data' | 'metadata' | 'destroy'): Promise<string> => {
    const plain = path.replace(/^\/+/, '');
    const mount = await versioned(plain);
    if (mount === undefined) return encode(plain);
    const below = plain.slice(mount.length).replace(/^\/?(?:data|metadata|destroy)\//, '');
    return encode(`${mount}/${part}/${below.replace(/^\//, '')}`);
  };
  const dataOf = async (answer: Promise<Answer>): Promise<Dict | undefined> => {
    const { status, body } = await answer;
    if (status === 404) return undefined;
    const data = isDict(body) ? body.get('data') : undefined;
    if (status === 200 && isDict(data)) return data;
    throw refused({ status, body });
  };
  const done = async (answer: Promise<Answer>): Promise<Answer> => {
    const got = await answer;
    if (got.status === 200 || got.status === 204) return got;
    throw refused(got);
  };
  const isV2 = async (path: string) => (await versioned(path.replace(/^\/+/, ''))) !== undefined;
  const readWithMetadata = async (path: string) => dataOf(send('GET', await address(path, 'data')));
  return {
    isV2,
    readWithMetadata,
    read: async path => {
      const found = await readWithMetadata(path);
      if (found === undefined || !(await isV2(path))) return found;
      const data = found.get('data');
      return isDict(data) ? data : undefined;
    },
    write: async (path, values) => {
      const plain = toPlain(values);
      const body = (await isV2(path)) ? { data: plain } : plain;
      const { status, body: answer } = await done(send('POST', await address(path, 'data'), body));
      return status === 200 && isDict(answer) ? (answer.get('data') ?? true) : true;
    },
    delete: async path => {
      await done(send('DELETE', await address(path, 'data')));
    },
    destroy: async (path, versions) => {
      await done(send('POST', await address(path, 'destroy'), { versions: [...versions] }));
    },
    list: async path => dataOf(send('GET', `${await address(path, 'metadata')}?list=true`)),
  };
};

const mountOf = ({ status, body }: Answer): string | undefined => {
  const data = isDict(body) ? body.get('data') : undefined;
  if (status !== 200 || !isDict(data)) return undefined;
  const options = data.get('options');
  const path = data.get('path');
  const isV2 =
    (data.get('type') ?? 'kv') === 'kv' && isDict(options) && options.get('version') === '2';
  return isV2 && typeof path === 'string' ? path.replace(/^\/+|\/+$/g, '') : undefined;
};

/** In a URL, `..` would lead to secrets that the path does not name. */
const encode = (path: string): string => {
  const steps = path.split('/');
  if (steps.includes('.') || steps.includes('..'))
    throw new Error("a path has no '.' or '..' in it");
  return steps.map(encodeURIComponent).join('/');
};

const refused = ({ status, body }: Answer): Error =>
  new Error(`vault answered ${status}${reasonIn(body)}`);

/** Returns Vault's message, which never contains values. */
const reasonIn = (body: Data): string => {
  const errors = isDict(body) ? body.get('errors') : undefined;
  const words = Array.isArray(errors) ? errors.map(String).join(', ') : '';
  return words === '' ? '' : `: ${words.slice(0, 200).trim()}`;
};

const most = 16 * 1024 * 1024;

const exchange = (url: string, options: RequestOptions, body?: Plain): Promise<Answer> => {
  const address = new URL(url);
  const send = address.protocol === 'https:' ? httpsRequest : httpRequest;
  const payload = body === undefined ? undefined : JSON.stringify(body);
  return new Promise((done, fail) => {
    const asked = send(
      address,
      {
        ...options,
        timeout: 30_000,
        headers: {
          ...options.headers,
          ...(payload === undefined
            ? {}
            : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }),
        },
      },
      response => {
        const chunks: Buffer[] = [];
        let size = 0;
        response.on('data', (chunk: Buffer) => {
          size += chunk.length;
          if (size > most) asked.destroy(new Error('its answer is larger than 16 MiB'));
          else chunks.push(chunk);
        });
        response.on('error', fail);
        response.on('end', () =>
          done({ status: response.statusCode ?? 0, body: parse(Buffer.concat(chunks)) }),
        );
      },
    );
    asked.on('timeout', () => asked.destroy(new Error('no answer within 30 s')));
    asked.on('error', error => {
      const code: unknown = Reflect.get(error, 'code');
      fail(
        new Error(
          `vault at ${address.origin} could not be asked (${typeof code === 'string' ? code : error.message})`,
        ),
      );
    });
    asked.end(payload);
  });
};

/** Invalid JSON is treated as empty: the status reports what happened. */
const parse = (body: Buffer): Data => {
  try {
    return toData(JSON.parse(body.toString('utf8')) as Plain);
  } catch {
    return null;
  }
};
