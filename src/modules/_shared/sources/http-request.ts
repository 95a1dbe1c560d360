import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { CommandExecutionError, SaltInvocationError } from '../../api.ts';
import { readFileSync } from '../safe-fs/fs.ts';
import { redactUrl } from './source-url.ts';

export type HttpRequest = {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  /** Seconds. */
  readonly timeout?: number;
  readonly verify?: boolean;
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly maxRedirects?: number;
};

export type HttpResponse = {
  readonly status: number;
  /** The server's words for the status. */
  readonly reason: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
};

const limit = 64 * 1024 * 1024;

/**
 * Sends an HTTP request and follows redirects. Returns the response whatever its status; the login
 * is not sent to another server.
 *
 * @throws CommandExecutionError when no response came; shows the URL without its login
 */
export const requestHttp = async (
  url: string,
  options: HttpRequest = {},
): Promise<HttpResponse> => {
  const incoming = await openHttp(url, options);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of incoming) {
      size += chunk.length;
      if (size > limit) throw new Error(`the answer is larger than ${limit} bytes`);
      chunks.push(chunk);
    }
  } catch (error) {
    throw httpFailure(url, error);
  }
  return {
    status: incoming.statusCode ?? 0,
    reason: incoming.statusMessage ?? '',
    headers: incoming.headers,
    body: Buffer.concat(chunks).toString('utf8'),
  };
};

/**
 * Like `requestHttp`, but leaves the body to be read by the caller.
 *
 * @throws CommandExecutionError when no response came; shows the URL without its login
 */
export const openHttp = async (
  url: string,
  options: HttpRequest = {},
): Promise<IncomingMessage> => {
  let target = parse(url);
  let current = options;
  for (let hops = options.maxRedirects ?? 20; ; hops -= 1) {
    const answer = await once(target, current);
    const { location } = answer.headers;
    const status = answer.statusCode ?? 0;
    if (![301, 302, 303, 307, 308].includes(status) || !location) return answer;
    answer.destroy();
    if (hops <= 0) throw new CommandExecutionError(`Too many redirects reading ${redactUrl(url)}`);
    const next = parse(new URL(location, target).href);
    if (next.origin !== target.origin) current = withoutLogin(current);
    else if (!next.username) [next.username, next.password] = [target.username, target.password];
    const method = (current.method ?? 'GET').toUpperCase();
    const keeps = status === 307 || status === 308 || ['GET', 'HEAD'].includes(method);
    if (!keeps) current = { ...current, method: 'GET', body: undefined };
    target = next;
  }
};

/** The error of a failed request, which shows the URL without its login. */
export const httpFailure = (url: string, error: unknown): CommandExecutionError => {
  if (error instanceof CommandExecutionError) return error;
  const { message = '', code = '' } = error as { message?: string; code?: string };
  return new CommandExecutionError(`Error: ${message || code} reading ${redactUrl(url)}`, {
    cause: error,
  });
};

const parse = (url: string): URL => {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    throw new SaltInvocationError(`Not a URL: ${redactUrl(url)}`);
  }
  if (parsed.protocol === 'http:' || parsed.protocol === 'https:') return parsed;
  throw new SaltInvocationError(`Only http and https can be queried: ${redactUrl(url)}`);
};

const secretHeaders = ['authorization', 'cookie', 'x-vault-token'];

const withoutLogin = ({ username: _, password: __, ...rest }: HttpRequest): HttpRequest => ({
  ...rest,
  headers: Object.fromEntries(
    Object.entries(rest.headers ?? {}).filter(
      ([name]) => !secretHeaders.includes(name.toLowerCase()),
    ),
  ),
});

/** Sets Content-Length, which Node leaves out for methods that usually have no body, as DELETE. */
const lengthOf = (body: HttpRequest['body']): Record<string, string> =>
  body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };

const once = (target: URL, options: HttpRequest): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const user = options.username ?? decodeURIComponent(target.username);
    const password = options.password ?? decodeURIComponent(target.password);
    const secure = target.protocol === 'https:';
    const outgoing = (secure ? httpsRequest : httpRequest)(
      target,
      {
        method: (options.method ?? 'GET').toUpperCase(),
        headers: { 'user-agent': 'tsalt-ssh', ...lengthOf(options.body), ...options.headers },
        signal: AbortSignal.timeout((options.timeout ?? 60) * 1000),
        agent: false,
        ...(user ? { auth: `${user}:${password}` } : {}),
        ...(secure
          ? {
              rejectUnauthorized: options.verify ?? true,
              ...(options.ca ? { ca: readFileSync(options.ca) } : {}),
              ...(options.cert ? { cert: readFileSync(options.cert) } : {}),
              ...(options.key ? { key: readFileSync(options.key) } : {}),
            }
          : {}),
      },
      resolve,
    );
    outgoing.on('error', error => reject(httpFailure(target.href, error)));
    outgoing.end(options.body);
  });
