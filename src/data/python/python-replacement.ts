const controls: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
};

/**
 * Expands Python's replacement text: `\1`, `\g<1>`, `\g<name>`, `\n`; `$` is literal.
 *
 * @throws TypeError for a backslash before any other letter.
 */
export const expandReplacement = (
  template: string,
  match: readonly (string | undefined)[],
  groups: Readonly<Record<string, string | undefined>> | undefined,
): string =>
  template.replace(
    /\\(?:g<(\w+)>|(0[0-7]{0,2}|[1-3][0-7]{2})|([1-9]\d?)|([\s\S]?))/g,
    (whole, name, octal, digits, char) => {
      const key: string | undefined = name ?? digits;
      if (key !== undefined) return groupOf(key, match, groups);
      if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
      const control = controls[char as string];
      if (control === undefined && /^[A-Za-z]?$/.test(char))
        throw new TypeError(`bad escape ${whole} in the replacement '${template}'`);
      return control ?? whole;
    },
  );

const groupOf = (
  key: string,
  match: readonly (string | undefined)[],
  groups: Readonly<Record<string, string | undefined>> | undefined,
): string => {
  const isNumber = /^\d+$/.test(key);
  const isKnown = isNumber ? Number(key) < match.length : Object.hasOwn(groups ?? {}, key);
  if (!isKnown) throw new TypeError(`the pattern has no group ${key}`);
  return (isNumber ? match[Number(key)] : groups?.[key]) ?? '';
};
