import { isPlainDict } from '../../../../protocol/plain.ts';
import { writeAtomic } from '../../../_shared/files/atomic-write.ts';
import { followLinks } from '../../../_shared/safe-fs/open-parent.ts';
import { requestHttp } from '../../../_shared/sources/http-request.ts';
import { salt } from '../../../_shared/states/call.ts';
import { configOption } from '../../../_shared/states/config-option.ts';
import { plainStr } from '../../../_shared/text/python-text.ts';
import { CommandExecutionError, type Plain, type PlainDict } from '../../../api.ts';

/**
 * Adds a user to an htpasswd file, or changes the user's password, like `webutil.useradd`.
 *
 * @param pwfile the file
 * @param user the user
 * @param password the password; it is not passed on a command line
 * @param opts letters of htpasswd, `s` for SHA-1
 * @example tsalt-ssh web1 apache.useradd /etc/apache2/htpasswd ann password opts=B
 */
export const useradd = async (
  pwfile: string,
  user: string,
  password: string,
  opts = '',
): Promise<PlainDict> => salt('webutil.useradd')(pwfile, user, password, { opts });

/**
 * Removes a user from an htpasswd file.
 *
 * @param pwfile the file
 * @param user the user
 * @example tsalt-ssh web1 apache.userdel /etc/apache2/htpasswd ann
 */
export const userdel = async (pwfile: string, user: string): Promise<Plain> =>
  salt('webutil.userdel')(pwfile, user);

const states = ['_', 'S', 'R', 'W', 'K', 'D', 'C', 'L', 'G', 'I', '.'];

/**
 * Returns the running server's status, as reported by its module `status`, or `error` if it does not
 * answer. The configuration or pillar key `apache.server-status:PROFILE` sets the address and the
 * account: `url` (default `http://localhost/server-status`), `user`, `pass` and `timeout` (default 5
 * seconds).
 *
 * @param profile the name of the profile
 * @example tsalt-ssh web1 apache.server_status
 */
export const server_status = async (profile = 'default'): Promise<PlainDict | 'error'> => {
  const all = await configOption('apache.server-status');
  const own = isPlainDict(all) ? all[profile] : undefined;
  const { url, user, pass, timeout }: PlainDict = isPlainDict(own) ? own : {};
  const answer = await requestHttp(`${url || 'http://localhost/server-status'}?auto`, {
    timeout: Number(timeout || 5),
    ...(user && pass ? { username: String(user), password: String(pass) } : {}),
  }).catch(() => undefined);
  if (answer === undefined || answer.status >= 400) return 'error';
  const board = Object.fromEntries(states.map(state => [state, 0]));
  const facts: PlainDict = { Scoreboard: board };
  for (const line of answer.body.split('\n')) {
    const [, key = '', value = ''] = /^([^:]+):\s*(.*?)\s*$/.exec(line) ?? [];
    if (key === 'Scoreboard') for (const one of value) board[one] = (board[one] ?? 0) + 1;
    else if (key !== '')
      facts[key] = /^[+-]?[\d.]+(?:e[+-]?\d+)?$/i.test(value) ? Number(value) : value;
  }
  return facts;
};

/**
 * Writes an Apache configuration file from data and returns its text.
 *
 * @param name the file
 * @param config a list of `{DIRECTIVE: VALUE}`; `this` holds the argument of a section
 * @param edit false: only return the text
 * @example tsalt-ssh web1 apache.config /etc/apache2/ports.conf '[{Listen: 8080}]'
 */
export const config = async (name: string, config: PlainDict[], edit = true): Promise<string> => {
  const text = config
    .flatMap(entry => Object.entries(entry).slice(0, 1))
    .map(([directive, value]) => linesOf(directive, value))
    .join('\n');
  if (edit) writeAtomic(followLinks(name), `# This file is managed by Salt.\n${text}`);
  return text;
};

/** A section is a dict, or a list of dicts if one of its directives occurs more than once. */
const linesOf = (directive: string, value: Plain): string => {
  if (isPlainDict(value)) {
    if (!Object.hasOwn(value, 'this'))
      throw new CommandExecutionError(
        `Apache section container "<${directive}>" expects attribute. Specify it using key "this".`,
      );
    return section(directive, value.this ?? '', Object.entries(value));
  }
  if (!Array.isArray(value)) return `${directive} ${plainStr(value)}`;
  const start = value.find(one => isPlainDict(one) && Object.hasOwn(one, 'this'));
  if (start === undefined) return value.map(one => `${linesOf(directive, one)}\n`).join('');
  return section(
    directive,
    (start as PlainDict).this ?? '',
    value.flatMap(one => (isPlainDict(one) ? Object.entries(one) : [])),
  );
};

const section = (name: string, argument: Plain, entries: readonly [string, Plain][]): string => {
  const inner = entries
    .filter(([key]) => key !== 'this')
    .map(([key, value]) => `${linesOf(key, value)}\n`);
  return `<${name} ${plainStr(argument)}>\n${inner.join('')}</${name}>\n`;
};
