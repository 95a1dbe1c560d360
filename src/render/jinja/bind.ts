import { raise } from './jinja-error.ts';
import { quoted } from './values/text.ts';
import type { Args, Value } from './values/value.ts';

/** Names of parameters; optional ones end with `?`. */
export type Params = readonly string[];

export type BoundValues = (Value | undefined)[];

/** Sorts arguments by parameter. Throws Python's errors if they do not fit. */
export const bindMacro = (callee: string, params: Params, { list, named }: Args): BoundValues => {
  if (list.length > params.length)
    raise(
      `${callee}() takes at most ${params.length} argument${params.length === 1 ? '' : 's'} (${list.length} given)`,
    );
  const bound: BoundValues = [...list];
  for (const [name, value] of named) {
    const index = params.findIndex(param => param === name || param === `${name}?`);
    if (index < 0) raise(`${callee}() got an unexpected keyword argument ${quoted(name)}`);
    if (index < list.length) raise(`${callee}() got multiple values for argument ${quoted(name)}`);
    bound[index] = value;
  }
  params.forEach((param, index) => {
    if (bound[index] === undefined && !param.endsWith('?'))
      raise(`${callee}() missing 1 required positional argument: ${quoted(param)}`);
  });
  return bound;
};
