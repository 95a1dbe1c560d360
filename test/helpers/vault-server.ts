import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A stand-in for HashiCorp Vault on loopback that speaks its HTTP API: tokens, AppRole,
 * `sys/internal/ui/mounts`, and the key-value engines of version 1 (`kv1/`) and 2 (`secret/`),
 * with Vault's status codes and bodies.
 */
export type VaultServer = {
  readonly url: string;
  readonly requests: readonly string[];
  readonly close: () => Promise<void>;
};

export const rootToken = 'hvs.root-token';
export const appRole = { role_id: 'role-1', secret_id: 'secret-1' };

type Reply = readonly [status: number, body?: unknown];
type Version = { data: Record<string, unknown>; destroyed: boolean; deleted: boolean };

export const startVault = async (): Promise<VaultServer> => {
  const requests: string[] = [];
  const tokens = new Set([rootToken]);
  const v1 = new Map<string, Record<string, unknown>>();
  const v2 = new Map<string, Version[]>();

  const login = (body: Record<string, unknown>): Reply => {
    if (body.role_id !== appRole.role_id || body.secret_id !== appRole.secret_id)
      return [400, { errors: ['invalid role or secret ID'] }];
    const token = `hvs.approle-${tokens.size}`;
    tokens.add(token);
    return [200, { auth: { client_token: token, lease_duration: 3600 } }];
  };

  const mount = (path: string): Reply => {
    if (path.startsWith('secret/'))
      return [200, { data: { path: 'secret/', type: 'kv', options: { version: '2' } } }];
    if (path.startsWith('kv1/'))
      return [200, { data: { path: 'kv1/', type: 'kv', options: { version: '1' } } }];
    return [403, { errors: ['preflight capability check returned 403'] }];
  };

  const keysBelow = (names: Iterable<string>, path: string): Reply => {
    const below = [...names]
      .filter(name => name.startsWith(path))
      .map(name => name.slice(path.length).replace(/\/.*/, '/'));
    return below.length === 0
      ? [404, { errors: [] }]
      : [200, { data: { keys: [...new Set(below)].sort() } }];
  };

  const kv1 = (method: string, path: string, body: Record<string, unknown>): Reply => {
    if (method === 'LIST') return keysBelow(v1.keys(), path);
    if (method === 'POST') {
      v1.set(path, body);
      return [204];
    }
    if (method === 'DELETE') {
      v1.delete(path);
      return [204];
    }
    const data = v1.get(path);
    return data ? [200, { data }] : [404, { errors: [] }];
  };

  const kv2 = (method: string, path: string, body: Record<string, unknown>): Reply => {
    const [, part = '', name = ''] = /^(data|metadata|destroy)\/(.*)$/.exec(path) ?? [];
    const versions = v2.get(name) ?? [];
    if (part === 'metadata' && method === 'LIST') return keysBelow(v2.keys(), name);
    if (part === 'destroy' && method === 'POST') {
      for (const number of body.versions as number[]) {
        const version = versions[number - 1];
        if (version) Object.assign(version, { destroyed: true, data: {} });
      }
      return [204];
    }
    if (part !== 'data')
      return [404, { errors: [], warnings: ['Invalid path for a versioned K/V secrets engine.'] }];
    if (method === 'POST') {
      versions.push({
        data: body.data as Record<string, unknown>,
        destroyed: false,
        deleted: false,
      });
      v2.set(name, versions);
      return [200, { data: { version: versions.length, destroyed: false } }];
    }
    const last = versions.at(-1);
    if (method === 'DELETE') {
      if (last) last.deleted = true;
      return [204];
    }
    if (!last || last.deleted || last.destroyed) return [404, { errors: [] }];
    return [200, { data: { data: last.data, metadata: { version: versions.length } } }];
  };

  const answer = (
    method: string,
    path: string,
    token: unknown,
    body: Record<string, unknown>,
  ): Reply => {
    if (path === 'auth/approle/login') return login(body);
    if (!tokens.has(String(token))) return [403, { errors: ['permission denied'] }];
    if (path.startsWith('sys/internal/ui/mounts/')) return mount(path.slice(23));
    if (path.startsWith('kv1/')) return kv1(method, path.slice(4), body);
    if (path.startsWith('secret/')) return kv2(method, path.slice(7), body);
    return [404, { errors: [`no handler for route "${path}"`] }];
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString('utf8');
    const url = new URL(request.url ?? '', 'http://vault');
    const path = decodeURIComponent(url.pathname.slice('/v1/'.length));
    const method = url.searchParams.get('list') === 'true' ? 'LIST' : (request.method ?? '');
    requests.push(`${method} ${path}`);
    const [status, body] = answer(
      method,
      path,
      request.headers['x-vault-token'],
      text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
    );
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(body === undefined ? '' : JSON.stringify(body));
  };

  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () => new Promise(resolve => server.close(() => resolve())),
  };
};
