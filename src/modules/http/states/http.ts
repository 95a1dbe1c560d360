/** Checks responses of web servers, as conditions for other states. Changes nothing. */
import { messageOf } from '../../../protocol/error.ts';
import { salt } from '../../_shared/states/call.ts';
import { pythonMatcher, pythonRegex } from '../../_shared/text/python-regex.ts';
import { __opts__, type Plain, type PlainDict, type StateReturn } from '../../api.ts';

type Options = {
  match?: string | null;
  match_type?: string;
  status?: string | number | (string | number)[] | null;
  status_type?: string;
  wait_for?: number | null;
  request_interval?: number;
  test_url?: string | null;
  [argument: string]: Plain | undefined;
};

/**
 * Checks that a request returns a text or a status. Accepts all arguments of `http.query`.
 *
 * @param name the URL
 * @param match the text or pattern that the body must contain
 * @param match_type `string`, or `pcre` for a regular expression
 * @param status the status it must have, or a list of them
 * @param status_type `string`, `list`, or `pcre`
 * @param wait_for seconds to try again for
 * @param request_interval seconds between two requests
 * @param test_url asked instead in test mode
 * @example
 * https://localhost/health:
 *   http.query:
 *     - status: 200
 *     - match: ok
 *     - wait_for: 30
 */
export const query = async (name: string, options: Options = {}): Promise<StateReturn> => {
  const {
    match = null,
    match_type = 'string',
    status = null,
    status_type = 'string',
    wait_for = null,
    request_interval = 0,
    test_url = null,
    ...rest
  } = options;
  const fail = (comment: string): StateReturn => ({ name, changes: {}, result: false, comment });
  if (match === null && status === null)
    return fail('Either match text (match) or a status code (status) is required.');
  if (!['string', 'pcre'].includes(match_type))
    return fail(`The argument "match_type" must be string or pcre, not "${match_type}".`);
  if (!['string', 'list', 'pcre'].includes(status_type))
    return fail(`The argument "status_type" must be string, list or pcre, not "${status_type}".`);
  if (__opts__.test && !test_url)
    return { name, changes: {}, result: null, comment: ' (TEST MODE)' };
  const url = __opts__.test && test_url ? test_url : name;
  const until = Date.now() + Number(wait_for ?? 0) * 1000;
  for (;;) {
    const found = await ask(url, { ...rest, status: true, text: true });
    const { result, comment } =
      typeof found === 'string'
        ? { result: false, comment: found }
        : judge(found, { match, match_type, status, status_type });
    if (result || Date.now() >= until)
      return {
        name,
        changes: {},
        result: __opts__.test ? null : result,
        comment: __opts__.test ? `${comment} (TEST MODE, TEST URL: ${test_url})` : comment,
      };
    await new Promise(resolve =>
      setTimeout(resolve, Math.max(Number(request_interval) * 1000, 200)),
    );
  }
};

const ask = async (url: string, options: PlainDict): Promise<PlainDict | string> => {
  try {
    const answer: PlainDict = await salt('http.query')(url, options);
    return answer.body === undefined ? String(answer.error) : answer;
  } catch (error) {
    return messageOf(error);
  }
};

type Wanted = {
  match: string | null;
  match_type: string;
  status: NonNullable<Options['status']> | null;
  status_type: string;
};

const judge = (
  answer: PlainDict,
  { match, match_type, status, status_type }: Wanted,
): { result: boolean; comment: string } => {
  const body = String(answer.text ?? '');
  const code = String(answer.status);
  const tests: [boolean, string][] = [];
  if (match !== null) {
    const pattern = match_type === 'pcre';
    const hit = pattern ? pythonRegex(match).test(body) : body.includes(String(match));
    tests.push([
      hit,
      `Match ${pattern ? 'pattern' : 'text'} "${match}" was ${hit ? '' : 'not '}found.`,
    ]);
  }
  if (status !== null) {
    const pattern = status_type === 'pcre';
    const wanted = Array.isArray(status) ? status.map(String) : [String(status)];
    const hit = pattern ? wanted.some(one => pythonMatcher(one)(code)) : wanted.includes(code);
    const label = pattern
      ? `Status pattern "${wanted.join(', ')}"`
      : `Status ${hit ? code : wanted.join(', ')}`;
    tests.push([hit, `${label} was ${hit ? '' : 'not '}found.`]);
  }
  return { result: tests.every(([hit]) => hit), comment: tests.map(([, text]) => text).join(' ') };
};

/**
 * Waits until a request returns the desired response.
 *
 * @param name the URL
 * @param wait_for seconds to try
 * @param match the text or pattern that the body must contain
 * @param status the status it must have
 * @example
 * http://localhost:8080/:
 *   http.wait_for_successful_query:
 *     - wait_for: 60
 *     - status: 200
 */
export const wait_for_successful_query = async (
  name: string,
  options: Options = {},
): Promise<StateReturn> => query(name, { ...options, wait_for: options.wait_for ?? 300 });
