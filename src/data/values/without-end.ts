/**
 * Returns a text without the characters of `set` at its end. A regular expression such as `/\n+$/`
 * needs quadratic time on a text that holds many of them elsewhere.
 */
export const withoutEnd = (text: string, set: string): string => {
  let end = text.length;
  while (end > 0 && set.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
};
