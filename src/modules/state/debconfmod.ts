/** Answers to the questions that Debian packages ask. Goes by the name `debconf`. */
import { __opts__, type Plain, type PlainDict, type StateReturn } from '../api.ts';
import { hasFunction, messageOf, salt } from '../lib/call.ts';
import { pyStr } from '../lib/python-text.ts';
import { failed } from '../lib/returns.ts';

export const __virtualname__ = 'debconf';

export const __virtual__ = (): string | [false, string] =>
  hasFunction('debconf.set') ? __virtualname__ : [false, 'debconf is not available on this host.'];

/**
 * Questions of a package are answered before it asks them.
 *
 * @param name the package
 * @param data answers by question: `{type: string, value: …}`
 * @example
 * postfix:
 *   debconf.set:
 *     - data:
 *         'postfix/mailname': {type: string, value: example.com}
 */
export const set = async (
  name: string,
  { data }: { data: { [question: string]: { type: string; value: Plain } } },
): Promise<StateReturn> => {
  const changes: PlainDict = {};
  const same: string[] = [];
  let isBad = false;
  for (const [question, { type, value }] of Object.entries(data)) {
    const wanted = type === 'boolean' ? String(Boolean(value) && value !== 'false') : pyStr(value);
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
