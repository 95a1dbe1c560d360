/**
 * Sets answers to the questions of Debian packages. Its virtual name is `debconf`.
 *
 * @platform Debian, Ubuntu and their derivatives
 * @depends debconf
 */

import { runCommand } from '../../_shared/commands/run-command.ts';
import { which } from '../../_shared/commands/which.ts';
import { contentText } from '../../_shared/files/file-content.ts';
import { readFile } from '../../_shared/safe-fs/promises.ts';
import { controlTemplate } from '../../_shared/sources/control-files.ts';
import { salt } from '../../_shared/states/call.ts';
import { plainStr } from '../../_shared/text/python-text.ts';
import {
  __grains__,
  CommandExecutionError,
  type Plain,
  type PlainDict,
  SaltInvocationError,
} from '../../api.ts';

export const __virtualname__ = 'debconf';

export const __virtual__ = (): string | [false, string] =>
  __grains__.os_family === 'Debian' && which('debconf-set-selections')
    ? __virtualname__
    : [false, 'debconf is not there: this is no Debian family system.'];

const run = (argv: readonly [string, ...string[]], stdin: string) =>
  runCommand(argv, {
    stdin,
    plainLocale: true,
    cwd: '/',
    env: { DEBIAN_FRONTEND: 'noninteractive' },
  });

/**
 * Returns the answer to a question and its type; null if it was not asked yet.
 *
 * @param package_ the package
 * @param question the question, e.g. `postfix/mailname`
 * @example tsalt-ssh '*' debconf.get_answer postfix postfix/mailname
 */
export const get_answer = async (
  package_: string,
  question: string,
): Promise<{ type: string; value: string } | null> => {
  plainWord(question);
  const { stdout } = await run(
    ['debconf-communicate', package_],
    `GET ${question}\nMETAGET ${question} type\n`,
  );
  const [value = '', type = ''] = stdout.split('\n');
  return value.startsWith('0') && type.startsWith('0 ')
    ? { value: value.slice(2), type: type.slice(2) }
    : null;
};

const plainWord = (text: string): void => {
  if (!/^\S+$/.test(text)) throw new SaltInvocationError(`Not a debconf question: "${text}"`);
};

/**
 * Sets the answer to a question before a package asks it. The answer is passed on standard input,
 * so that no list of processes shows it.
 *
 * @param package_ the package
 * @param question the question
 * @param type its type: `string`, `boolean`, `select`, `password` …
 * @param value the answer
 * @param extra further words of the answer
 * @example tsalt-ssh '*' debconf.set postfix postfix/mailname string example.com
 */
export const set = async (
  package_: string,
  question: string,
  type: string,
  value: Plain,
  ...extra: Plain[]
): Promise<boolean> => {
  for (const word of [package_, question, type]) plainWord(word);
  const text = [value, ...extra]
    .map(part => (typeof part === 'boolean' ? String(part) : plainStr(part)))
    .join(' ');
  if (text.includes('\n')) throw new SaltInvocationError('An answer of debconf is one line.');
  const { code, stderr } = await run(
    ['debconf-set-selections'],
    `${package_} ${question} ${type} ${text}\n`,
  );
  if (code !== 0) throw new CommandExecutionError(`debconf-set-selections: ${stderr.trim()}`);
  return true;
};

/**
 * Loads a file of answers.
 *
 * @param path the file: `salt://…` or a path on the host
 * @param saltenv the environment to fetch it from
 * @example tsalt-ssh '*' debconf.set_file salt://postfix.selections
 */
export const set_file = async (
  path: string,
  { saltenv = 'base' }: { saltenv?: string } = {},
): Promise<boolean> => {
  const local: unknown = path.startsWith('/') ? path : await salt('cp.cache_file')(path, saltenv);
  if (typeof local !== 'string' || local === '')
    throw new CommandExecutionError(`Unable to cache ${path}: file not found`);
  return load(await readFile(local, 'utf8'));
};

/**
 * Renders a template of answers on the control node and loads it.
 *
 * @param path `salt://…`
 * @param template the engine
 * @param context variables for it
 * @param defaults variables that `context` overrides
 * @param saltenv the environment to fetch it from
 * @example tsalt-ssh '*' debconf.set_template salt://postfix.selections.j2 jinja '{}' '{}'
 */
export const set_template = async (
  path: string,
  template: string,
  context: PlainDict | null,
  defaults: PlainDict | null,
  { saltenv = 'base' }: { saltenv?: string } = {},
): Promise<boolean> => {
  const rendered = await controlTemplate({
    source: path,
    saltenv,
    template,
    context: { ...defaults, ...context },
    chunk: {},
  });
  if (!rendered) throw new CommandExecutionError(`Unable to render ${path}: file not found`);
  return load(contentText(await rendered.content()));
};

const load = async (answers: string): Promise<true> => {
  const { code, stderr } = await run(['debconf-set-selections'], answers);
  if (code !== 0) throw new CommandExecutionError(`debconf-set-selections: ${stderr.trim()}`);
  return true;
};

type Selections = Record<string, [question: string, type: string, value: string][]>;

/**
 * All answers by package: question, type and value.
 *
 * @param fetchempty false: without questions that have no answer
 * @example tsalt-ssh '*' debconf.get_selections
 */
export const get_selections = async (fetchempty = true): Promise<Selections> => {
  if (which('debconf-get-selections') === undefined)
    throw new CommandExecutionError('debconf-get-selections is not installed (debconf-utils).');
  const { stdout } = await run(['debconf-get-selections'], '');
  const found: Selections = {};
  for (const line of stdout.split('\n')) {
    const [, owner, question = '', type = '', value = ''] =
      line.match(/^([^#\s]\S*)\s+(\S+)\s+(\S+)\s*(.*)$/) ?? [];
    if (owner === undefined || (!fetchempty && value === '')) continue;
    found[owner] = [...(found[owner] ?? []), [question, type, value]];
  }
  return found;
};

/**
 * Returns the answers for one package; null if it has none.
 *
 * @param name the package
 * @example tsalt-ssh '*' debconf.show postfix
 */
export const show = async (name: string): Promise<[string, string, string][] | null> =>
  (await get_selections())[name] ?? null;
