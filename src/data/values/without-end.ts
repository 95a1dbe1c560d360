/**
 * Removes the characters of `set` from the end of a string. A regular expression such as `/\n+$/`
 * needs quadratic time if the string contains many of them elsewhere.
 */
export const withoutEnd = (text: string, set: string): string => {
  let end = text.length;
  while (end > 0 && set.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
};
