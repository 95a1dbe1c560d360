import type { Data, Dict } from '../../data/values/value.ts';
import { type SourceLocation, TsaltError } from '../../protocol/error.ts';
import { unmarked } from './ansible-values.ts';

type Env = Readonly<Record<string, string | undefined>>;

const deepest = 10;
const mostNames = 1000;
const variables = /\{\{([^{}]*)\}\}/g;

/**
 * Replaces `{{ name }}` and `{{ lookup('env', 'NAME') }}`, the two templates that connection
 * settings of inventories use, with an optional `default('…')`. `!unsafe` values are not changed.
 *
 * @param setting the variable's name, for messages
 * @throws TsaltError `roster-template` for other templates, which only Ansible can evaluate
 */
export const expand = (
  value: Data,
  setting: string,
  vars: Dict,
  env: Env,
  at: SourceLocation,
): Data => {
  let names = 0;
  const replace = (text: Data, depth: number): Data => {
    if (typeof text !== 'string' || !/\{[{%]/.test(text)) return unmarked(text);
    const read = (expression: string): Data => {
      const [, name = '', variable, given] =
        /^\s*(?:([A-Za-z_]\w*)|lookup\(\s*['"](?:ansible\.builtin\.)?env['"]\s*,\s*['"](\w+)['"]\s*\))(?:\s*\|\s*default\(\s*['"]([^'"]*)['"]\s*(?:,\s*(?:true|True)\s*)?\))?\s*$/.exec(
          expression,
        ) ?? [];
      const found = variable === undefined ? vars.get(name) : env[variable];
      const answer = found === undefined || found === '' ? (given ?? found) : found;
      names += 1;
      if (answer === undefined || depth > deepest || names > mostNames)
        throw unanswered(setting, at);
      return replace(answer, depth + 1);
    };
    const whole = /^\{\{([^{}]*)\}\}$/.exec(text.trim());
    if (whole) return read(whole[1] ?? '');
    if (/\{[{%]/.test(text.replace(variables, ''))) throw unanswered(setting, at);
    return text.replace(variables, (_, expression: string) => String(read(expression)));
  };
  return replace(value, 0);
};

/** Omits the text from the error, since a password may look like a template. */
const unanswered = (setting: string, at: SourceLocation): TsaltError =>
  new TsaltError('roster-template', `The template of '${setting}' cannot be answered.`, {
    at,
    hint: "Connection settings may use {{ variable }} of the host and {{ lookup('env', 'NAME') }}, each with | default('…').",
  });
