import { noValue, traverse } from '../../data/values/traverse.ts';
import type { Data, Dict } from '../../data/values/value.ts';
import { isPlainDict, type Plain, type PlainDict } from '../../protocol/plain.ts';
import { argumentsOf, type ExtPillarInput, type ExtPillarSource } from './ext-pillar-source.ts';

/** http_json and http_yaml: the parsed response of a URL, below `namespace` if that is set. */
export const httpSource =
  (parse: (text: string) => Data): ExtPillarSource =>
  async (settings, input) => {
    const options = argumentsOf(settings, names);
    if (isGiven(options.auth))
      throw new Error(
        "its 'auth' cannot be written in YAML: give username and password, or header_dict",
      );
    const data = parse(await ask(options, input));
    const { namespace } = options;
    return isGiven(namespace) && namespace !== '' ? new Map([[String(namespace), data]]) : data;
  };

const names = ['url', 'with_grains', 'header_dict', 'auth', 'username', 'password', 'namespace'];

const isGiven = (value: Plain | undefined): value is Plain => value !== undefined && value !== null;

const ask = async (options: PlainDict, input: ExtPillarInput): Promise<string> => {
  const url = urlOf(options, input);
  const headers = headersOf(options, url);
  url.username = '';
  url.password = '';
  const signal = AbortSignal.timeout(30_000);
  try {
    const response = await follow(url, headers, signal);
    if (!response.ok) throw new Refused(`${url.origin} answered ${response.status}`);
    return await response.text();
  } catch (error) {
    if (error instanceof Refused) throw error;
    throw new Error(`${url.origin} could not be asked (${whyNot(error)})`);
  }
};

class Refused extends Error {}

/** The messages of fetch may quote the request. */
const whyNot = (error: unknown): string => {
  if (!(error instanceof Error)) return 'the request failed';
  if (error.name === 'TimeoutError') return 'no answer within 30 s';
  const cause = error.cause as { code?: unknown } | undefined;
  return String(cause?.code ?? 'the request failed');
};

/** Follows redirects to the same origin only: they repeat the headers, which may be secrets. */
const follow = async (first: URL, headers: Headers, signal: AbortSignal): Promise<Response> => {
  let url = first;
  for (let turn = 0; turn < 10; turn += 1) {
    const response = await fetch(url, { headers, signal, redirect: 'manual' });
    const location = response.headers.get('location');
    if (response.status < 300 || response.status > 399 || location === null) return response;
    await response.body?.cancel();
    if (!URL.canParse(location, url.href))
      throw new Refused(`${url.origin} redirects to an invalid URL`);
    const next = new URL(location, url);
    if (next.origin !== first.origin && [...headers].length > 0)
      throw new Refused(
        `${first.origin} redirects to ${next.origin}, which must not get the headers meant for it`,
      );
    url = next;
  }
  throw new Refused(`${first.origin} redirects without end`);
};

/** fetch's own error on a bad header quotes its value. */
const headersOf = (options: PlainDict, url: URL): Headers => {
  const headers = new Headers();
  const given = options.header_dict ?? {};
  if (!isPlainDict(given)) throw new Error('its header_dict is not a mapping');
  for (const [name, value] of Object.entries(given))
    try {
      headers.set(name, String(value));
    } catch {
      throw new Error(`its header '${name}' cannot be sent`);
    }
  const user = options.username ?? (decodeURIComponent(url.username) || undefined);
  const password = options.password ?? decodeURIComponent(url.password);
  if (isGiven(user)) {
    const pair = Buffer.from(`${String(user)}:${String(password)}`, 'utf8');
    headers.set('authorization', `Basic ${pair.toString('base64')}`);
  }
  return headers;
};

const urlOf = (options: PlainDict, { id, grains }: ExtPillarInput): URL => {
  const withId = String(options.url ?? '').replaceAll('%s', encodeURIComponent(id));
  const written =
    options.with_grains === true
      ? withId.replace(/<(.*?)>/g, (_, name: string) => encodeURIComponent(grainText(grains, name)))
      : withId;
  if (!URL.canParse(written)) throw new Error('its url is not a URL');
  const url = new URL(written);
  if (url.protocol === 'http:' || url.protocol === 'https:') return url;
  throw new Error(`its url must be http or https, not ${url.protocol}`);
};

const grainText = (grains: Dict, name: string): string => {
  const value = traverse(grains, name, ':');
  if (value === noValue || value === null || value === '')
    throw new Error(`its url names the grain '${name}', which the host does not have`);
  const text = String(value);
  // As segments of a path these lead elsewhere, also when escaped: a host must not choose that.
  if (text === '.' || text === '..')
    throw new Error(`its url names the grain '${name}', which is '${text}'`);
  return text;
};
