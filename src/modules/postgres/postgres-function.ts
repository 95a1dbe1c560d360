const twoWords =
  /^(?:double\s+precision|(?:bit|character|char|nchar)\s+varying|national\s|interval\s|time(?:stamp)?\s*(?:\(\d+\)\s*)?(?:with|without)\s)/i;

/**
 * `add(a integer, b double precision)` as `add(integer, double precision)`: GRANT takes the names of
 * arguments, what looks a function up does not.
 */
export const withoutArgumentNames = (name: string): string => {
  const open = name.indexOf('(');
  const list = name.slice(open + 1, name.lastIndexOf(')'));
  const types = splitArguments(list)
    .map(one => one.trim().replace(/\s+/g, ' '))
    .filter(one => !/^out /i.test(one))
    .map(one => typeOf(one.replace(/^(?:inout|in|variadic) /i, '')));
  return `${name.slice(0, open)}(${types.join(', ')})`;
};

/** Commas within brackets part no arguments: `numeric(10,2)`. */
const splitArguments = (list: string): string[] =>
  list.match(/(?:[^,()"]|"[^"]*"|\([^)]*\))+/g) ?? [];

const typeOf = (argument: string): string => {
  const [, , type] = /^("[^"]*"|[^\s"]+) (.+)$/.exec(argument) ?? [];
  return type === undefined || twoWords.test(argument) || type.startsWith('(') ? argument : type;
};
