/** Sends HTTP requests from the host. Unsupported: `persist_session`, `cookies`, XML decoding. */

import { messageOf } from '../../../protocol/error.ts';
import { readFileSync } from '../../_shared/safe-fs/fs.ts';
import { type HttpResponse, requestHttp } from '../../_shared/sources/http-request.ts';
import { repackDictList } from '../../_shared/states/values.ts';
import { plainStr } from '../../_shared/text/python-text.ts';
import { parseSimpleYaml } from '../../_shared/text/simple-yaml.ts';
import {
  CommandExecutionError,
  type Plain,
  type PlainDict,
  SaltInvocationError,
} from '../../api.ts';

export type QueryOptions = {
  method?: string;
  params?: PlainDict | null;
  data?: Plain;
  data_file?: string | null;
  header_dict?: PlainDict | null;
  header_list?: string[] | null;
  header_file?: string | null;
  username?: string | null;
  password?: string | null;
  decode?: boolean;
  decode_type?: string;
  status?: boolean;
  headers?: boolean;
  text?: boolean;
  raise_error?: boolean;
  timeout?: number;
  verify_ssl?: boolean;
  ca_bundle?: string | null;
  cert?: string | string[] | null;
  max_redirects?: number;
  backend?: string | null;
  agent?: string | null;
  text_out?: string | null;
  headers_out?: string | null;
  decode_out?: string | null;
};

/**
 * Sends a request and returns the response: `body`, and on request `status`, `headers`, `text` and
 * `dict`. A failure is returned in `error`: a server that does not respond does not make the call
 * fail.
 *
 * @param url the URL
 * @param method GET, POST …
 * @param params the query string after `?`
 * @param data the body; a dict is sent as a form
 * @param data_file a file with the body
 * @param header_dict headers
 * @param header_list headers as `Name: value`
 * @param header_file a file with headers in lines
 * @param username a login
 * @param password its password
 * @param decode true: `dict` has the body as data
 * @param decode_type `json`, `yaml`, `plain`, or by its Content-Type (`auto`)
 * @param status true: with the status
 * @param headers true: with the headers
 * @param text true: with `text`, the same as `body`
 * @param raise_error false: a status of 400 and more is an answer like others
 * @param timeout seconds
 * @param verify_ssl false: accept any certificate
 * @param ca_bundle a file with the certificates to trust
 * @param cert a client's certificate, or it and its key
 * @param max_redirects how many redirects to follow
 * @param agent the User-Agent header of the request
 * @param backend `tornado`, `requests`, `urllib2`: accepted for compatibility; all send the same request
 * @example tsalt-ssh '*' http.query http://localhost/ status=True text=True
 */
export const query = async (
  url: string,
  options: QueryOptions & { [key: string]: Plain | undefined } = {},
): Promise<PlainDict> => {
  refuse(options);
  const { timeout = 60, verify_ssl = true, max_redirects = 20 } = options;
  const cert = typeof options.cert === 'string' ? [options.cert, options.cert] : options.cert;
  const method = (options.method ?? 'GET').toUpperCase();
  const { body, type } = bodyOf(method, options);
  let answer: HttpResponse;
  try {
    answer = await requestHttp(withParams(url, options.params), {
      method,
      headers: {
        ...(type ? { 'content-type': type } : {}),
        ...(options.agent ? { 'user-agent': options.agent } : {}),
        ...headersOf(options),
      },
      body,
      username: options.username ?? undefined,
      password: options.password ?? undefined,
      timeout: Number(timeout),
      verify: verify_ssl,
      ca: options.ca_bundle ?? undefined,
      cert: cert?.[0],
      key: cert?.[1],
      maxRedirects: max_redirects,
    });
  } catch (error) {
    return { error: messageOf(error), ...(options.status ? { status: 0 } : {}) };
  }
  const { status, reason } = answer;
  // The body of an error page is not the requested data, so neither text nor data is returned.
  if (status >= 400 && options.raise_error !== false)
    return { status, error: `HTTP ${status}: ${reason}`, body: answer.body };
  return {
    body: answer.body,
    ...(options.status ? { status } : {}),
    ...(options.headers ? { headers: answer.headers as PlainDict } : {}),
    ...(options.text || (options.decode && !isData(answer.headers['content-type'], options))
      ? { text: answer.body }
      : {}),
    ...(options.decode ? decoded(answer.body, answer.headers['content-type'], options) : {}),
  };
};

/**
 * Repeats a request until it succeeds.
 *
 * @param url the URL
 * @param wait_for seconds to try
 * @param request_interval seconds between two requests
 * @param match a pattern that the body must match
 * @param status_code the status it must have
 * @example tsalt-ssh '*' http.wait_for_successful_query http://localhost/health wait_for=60
 */
export const wait_for_successful_query = async (
  url: string,
  {
    wait_for = 300,
    request_interval = 0,
    ...options
  }: { wait_for?: number; request_interval?: number } & QueryOptions = {},
): Promise<PlainDict> => {
  const until = Date.now() + wait_for * 1000;
  for (;;) {
    const answer = await query(url, options);
    if (!Object.hasOwn(answer, 'error') || Date.now() >= until) return answer;
    await new Promise(resolve => setTimeout(resolve, Math.max(request_interval * 1000, 200)));
  }
};

const refused = [
  'cookies',
  'cookie_jar',
  'persist_session',
  'session_cookie_jar',
  'stream',
  'auth',
  'formdata',
  'data_render',
  'header_render',
  'template_dict',
  'text_out',
  'headers_out',
  'decode_out',
];

const refuse = (options: { [key: string]: Plain | undefined }): void => {
  const wrong = refused.filter(key => options[key]);
  if (wrong.length > 0)
    throw new SaltInvocationError(`http.query does not take ${wrong.join(', ')} here.`);
};

const formOf = (dict: PlainDict): string =>
  new URLSearchParams(
    Object.entries(dict).map(([key, value]): [string, string] => [key, plainStr(value)]),
  ).toString();

const withParams = (url: string, params: PlainDict | null | undefined): string =>
  params && Object.keys(params).length > 0
    ? `${url}${url.includes('?') ? '&' : '?'}${formOf(params)}`
    : url;

const formType = 'application/x-www-form-urlencoded';

const bodyOf = (
  method: string,
  { data, data_file }: QueryOptions,
): { body?: string | Uint8Array; type?: string } => {
  const usual = method === 'POST' ? { type: formType } : {};
  if (data_file) return { body: readFileSync(data_file), ...usual };
  if (data === null || data === undefined) return usual;
  if (typeof data === 'object' && !Array.isArray(data))
    return { body: formOf(data), type: formType };
  return { body: typeof data === 'string' ? data : JSON.stringify(data), ...usual };
};

const headersOf = ({
  header_dict,
  header_list,
  header_file,
}: QueryOptions): Record<string, string> => {
  const lines = [
    ...(header_list ?? []),
    ...(header_file ? readFileSync(header_file, 'utf8').split(/\r?\n/) : []),
  ];
  const pairs = lines
    .filter(line => line.includes(':'))
    .map((line): [string, string] => [
      line.slice(0, line.indexOf(':')).trim(),
      line.slice(line.indexOf(':') + 1).trim(),
    ]);
  const named = Object.entries(repackDictList(header_dict ?? null)).map(
    ([key, value]): [string, string] => [key, String(value)],
  );
  return Object.fromEntries([...pairs, ...named]);
};

const kindOf = (type: string | undefined, { decode_type = 'auto' }: QueryOptions): string =>
  decode_type !== 'auto'
    ? decode_type
    : /json/.test(type ?? '')
      ? 'json'
      : /yaml/.test(type ?? '')
        ? 'yaml'
        : 'plain';

const isData = (type: string | undefined, options: QueryOptions): boolean =>
  kindOf(type, options) !== 'plain';

const decoded = (body: string, type: string | undefined, options: QueryOptions): PlainDict => {
  const kind = kindOf(type, options);
  if (kind === 'plain') return {};
  if (kind === 'json') return { dict: parseJson(body) };
  if (kind === 'yaml') return { dict: parseSimpleYaml(body) as Plain };
  throw new SaltInvocationError(`http.query decodes json, yaml and plain, not ${kind}.`);
};

const parseJson = (body: string): Plain => {
  try {
    return JSON.parse(body) as Plain;
  } catch (cause) {
    throw new CommandExecutionError(`The answer is not JSON: ${messageOf(cause)}`, { cause });
  }
};
