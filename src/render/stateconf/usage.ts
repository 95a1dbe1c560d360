/** The parsed options of `#!stateconf`. */
export type Usage = {
  /** `-p`: the input is data, from the stage before. */
  readonly takesData: boolean;
  /** `-o`: each state requires the one before. */
  readonly isOrdered: boolean;
  /** `-s`: adds a state that comes first. */
  readonly hasStart: boolean;
  /** Without `-G`: adds a state that requires all others. */
  readonly hasGoal: boolean;
  /** The renderer that returns data, and the one that renders its text. */
  readonly data: Inner;
  readonly template: Inner;
};

export type Inner = { readonly name: string; readonly argument: string };

/**
 * Reads `[-Gosp] [data renderer [its options] . template renderer [its options]]`.
 *
 * @throws TypeError for an unknown option, or a missing renderer
 */
export const readUsage = (line: string): Usage => {
  const words = line.split(/\s+/).filter(word => word !== '');
  const first = words.findIndex(word => !/^-./.test(word));
  const options = (first < 0 ? words : words.slice(0, first)).flatMap(word => [...word.slice(1)]);
  const unknown = options.find(option => !'Gosp'.includes(option));
  if (unknown !== undefined) throw new TypeError(`stateconf has no option -${unknown}`);
  const rest = first < 0 ? 'yaml . jinja' : words.slice(first).join(' ');
  const [, data = rest, template] = /^(.*?)\s+(?<!\\)\.\s+(.*)$/.exec(rest) ?? [];
  if (template === undefined && !options.includes('p'))
    throw new TypeError(
      `'${rest}' names no template engine: write it like \`#!stateconf yaml . jinja\``,
    );
  return {
    takesData: options.includes('p'),
    isOrdered: options.includes('o'),
    hasStart: options.includes('s'),
    hasGoal: !options.includes('G'),
    data: inner(data),
    template: inner(template ?? ''),
  };
};

const inner = (text: string): Inner => {
  const [, name = '', argument = ''] = /^(\S*)\s*(.*)$/s.exec(text.replaceAll('\\.', '.')) ?? [];
  return { name, argument };
};
