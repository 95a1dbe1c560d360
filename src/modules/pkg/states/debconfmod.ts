/** Answers to the questions that Debian packages ask. Goes by the name `debconf`. */
import { messageOf } from '../../../protocol/error.ts';
import { isPlainDict } from '../../../protocol/plain.ts';
import { contentText } from '../../_shared/files/file-content.ts';
import { findSource } from '../../_shared/sources/file-source.ts';
import { hasFunction, salt } from '../../_shared/states/call.ts';
import { failed } from '../../_shared/states/returns.ts';
import { plainStr } from '../../_shared/text/python-text.ts';
import { __env__, __opts__, type Plain, type PlainDict, type StateReturn } from '../../api.ts';

export const __virtualname__ = 'debconf';

export const __virtual__ = (): string | [false, string] =>
  hasFunction('debconf.set') ? __virtualname__ : [false, 'debconf is not available on this host.'];

/**
 * Questions of a package are answered before it asks them.
 *
 * @param name the package
 * @param data answers by question: `{type: string, value: …}`
 * @unknown ignored
 * @example
 * postfix:
 *   debconf.set:
 *     - data:
 *         'postfix/mailname': {type: string, value: example.com}
 */
export const set = async (
  name: string,
  { data }: { data: { [question: string]: Plain } },
): Promise<StateReturn> => {
  const changes: PlainDict = {};
  const same: string[] = [];
  let isBad = false;
  for (const [question, answer] of Object.entries(data)) {
    if (!isAnswer(answer))
      return failed(
        name,
        `${question} needs a type and a value: {type: string, value: …}.`,
        changes,
      );
    const { type, value } = answer;
    const wanted =
      type === 'boolean' ? String(Boolean(value) && value !== 'false') : plainStr(value);
    const shown = type === 'password' ? '(password hidden)' : wanted;
    try {
      const now: { type: string; value: string } | null = await salt('debconf.get_answer')(
        name,
        question,
      );
      if (now?.value === wanted && now.type === type) same.push(question);
      else if (__opts__.test) changes[question] = `New value: ${shown}`;
      else {
        await salt('debconf.set')(name, question, type, wanted);
        changes[question] = shown;
      }
    } catch (error) {
      isBad = true;
      changes[question] = `Failed to set: ${messageOf(error)}`;
    }
  }
  if (isBad) return failed(name, 'Some settings failed to be applied.', changes);
  if (Object.keys(changes).length === 0)
    return { name, changes, result: true, comment: 'All specified answers are already set' };
  return {
    name,
    changes,
    result: __opts__.test ? null : true,
    comment: same.length > 0 ? `Unchanged answers: ${same.join(' ')} ` : '',
  };
};

const isAnswer = (answer: unknown): answer is { type: string; value: Plain } =>
  isPlainDict(answer) && typeof answer.type === 'string' && answer.value !== undefined;

type FileOptions = {
  template?: string | null;
  context?: PlainDict | null;
  defaults?: PlainDict | null;
};

/**
 * Questions are answered by a file as debconf-get-selections(1) writes it.
 *
 * @param name a name for the state
 * @param source the file: `salt://…` or a path
 * @param template renderer for the file
 * @param context variables for the template
 * @param defaults variables for the template that `context` overrides
 * @example
 * answers for postfix:
 *   debconf.set_file:
 *     - source: salt://postfix.selections
 */
export const set_file = async (
  name: string,
  source: string,
  { template = null, context = null, defaults = null }: FileOptions = {},
): Promise<StateReturn> => {
  for (const [argument, value] of Object.entries({ context, defaults }))
    if (value !== null && !isPlainDict(value))
      return failed(
        name,
        `${argument === 'context' ? 'Context' : 'Defaults'} must be formed as a dict`,
      );
  const all: Record<string, { [question: string]: { type: string; value: Plain } }> = {};
  try {
    const options = { name, template, context, defaults, saltenv: __env__.name };
    const content = await (await findSource(source, options)).content();
    for (const line of contentText(content).split('\n')) {
      const [, package_, question, type, value = ''] =
        /^\s*([^#\s]\S*)\s+(\S+)\s+(\S+)(?:[ \t](.*))?$/.exec(line) ?? [];
      if (package_ === undefined || question === undefined || type === undefined) continue;
      all[package_] = { ...all[package_], [question]: { type, value: value.trim() } };
    }
  } catch (error) {
    return failed(name, messageOf(error));
  }
  const results: StateReturn[] = [];
  for (const [package_, data] of Object.entries(all)) results.push(await set(package_, { data }));
  const changes: PlainDict = Object.assign({}, ...results.map(one => one.changes));
  const test = __opts__.test && Object.keys(changes).length > 0;
  if (results.some(({ result }) => result === false))
    return failed(name, 'Unable to set debconf selections from file.', changes);
  return {
    name,
    changes,
    result: test ? null : true,
    comment: test
      ? 'Debconf selections would have been set.'
      : Object.keys(changes).length > 0
        ? 'Debconf selections were set.'
        : 'All specified answers are already set',
  };
};
